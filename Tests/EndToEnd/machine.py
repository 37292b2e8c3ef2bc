"""A Debian machine that is thrown away: a bare system of this machine's release, with systemd as its first process.

Needs root, and `mmdebstrap`, `dpkg-dev` and `iproute2` of Debian. All machines start from one folder, which `build`
makes and none of them changes. All mounts are in a machine's own namespaces. Its supervisor waits for the end of a pipe
from this process: it takes the machine down even if this process is killed.
"""

import itertools
import os
import platform
import subprocess
import tempfile

import backline

DOWNLOAD = """set -eu
chroot "$1" apt-get clean
chroot "$1" sh -c 'apt-get install --yes --download-only /srv/*.deb && rm /srv/*.deb'
find "$1/var/cache/apt/archives" -name '*.deb' -exec mv -t "$1/srv" {} +"""
"""In the new system: fetches what a package needs, without the package."""

FINISH = r"""set -eu
cd "$1"
(cd srv && dpkg-scanpackages --multiversion . >Packages 2>/dev/null)
rm -rf etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/srv ./' >etc/apt/sources.list
chroot . apt-get -qq --error-on=any update
echo force-unsafe-io >etc/dpkg/dpkg.cfg.d/test
tr -d - </proc/sys/kernel/random/uuid >etc/machine-id
echo machine >etc/hostname
printf '127.0.0.1 localhost machine\n::1 localhost\n' >etc/hosts
rm -f etc/resolv.conf usr/sbin/policy-rc.d
: >etc/resolv.conf
for unit in apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer console-getty.service getty@.service; do
  ln -sf /dev/null "etc/systemd/system/$unit"
done"""
"""Makes what was fetched its only source of packages, and leaves out what needs a disk or a screen."""

INIT = r"""set -eu
trap 'echo failed' EXIT
root=$1 folder=$2 cgroup=$3
# Read before the machine has a /proc of its own: the number that this process has outside.
read -r number rest </proc/self/stat
echo 0 >"$cgroup/cgroup.procs"
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$root,upperdir=$folder/upper,workdir=$folder/work" "$folder/merged"
cd "$folder/merged"
mount -t proc -o nosuid,nodev,noexec proc proc
# Those of the kernel, which is shared.
for shared in sys sysrq-trigger; do
  [ -e "proc/$shared" ] || continue
  mount --bind "proc/$shared" "proc/$shared"
  mount -o remount,bind,ro,nosuid,nodev,noexec "proc/$shared"
done
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs sys
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755,nosuid tmpfs dev
for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
  name=${device%%:*} numbers=${device#*:}
  mknod -m 666 "dev/$name" c "${numbers%:*}" "${numbers#*:}"
done
ln -s /proc/self/fd dev/fd; ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5,nosuid,noexec devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs dev/shm
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs run
hostname machine
pivot_root . mnt
cd /
umount -l /mnt
mount --make-rshared /
echo "$number"
exec >/dev/null 2>&1
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=test \
  setpriv --bounding-set=-sys_module,-sys_rawio,-sys_time,-syslog,-mac_override,-mac_admin \
  /lib/systemd/systemd --log-target=journal --show-status=0"""
"""The machine's first process, in namespaces of its own."""

SUPERVISE = r"""set -u
cgroup=$1 folder=$2 root=$3 init=$4 parent=$5 link=$6 address=$7 outer=
trap '' INT TERM HUP
mkdir "$cgroup"
ip link set lo up
ip link add host0 type veth peer name "$link" netns "$parent"
ip address add "$address/30" dev host0
ip link set host0 up
while read -r _; do
  wait
  (
    trap - INT TERM HUP
    # The machine's cgroups begin at this one, but only its own processes may stay there: systemd cannot name others.
    echo 0 >"$cgroup/cgroup.procs"
    exec unshare --cgroup sh -c 'echo 0 >"$1/cgroup.procs"; shift; exec "$@"' sh "${cgroup%/*}" \
      unshare --mount --pid --uts --ipc --fork --kill-child=KILL \
      sh -c "$init" init "$root" "$folder" "$cgroup" </dev/null
  ) &
  outer=$!
done
[ -z "$outer" ] || kill -KILL "$outer" 2>/dev/null
while find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null; [ -d "$cgroup" ]; do sleep 0.05; done
ip link delete host0
rm -rf --one-file-system "$folder" """
"""Around the machine, in its network: boots it for each line that it reads, and removes all at the end of its input."""

# Commands get a cgroup of their own: systemd's is not theirs.
ENTER = 'mkdir -p "$0" && echo 0 >"$0/cgroup.procs" && cd && exec "$@"'

_numbers = itertools.count()


def build(folder, package):
    """Makes a system in an empty folder. It has what a package (a file) depends on at hand, not installed."""
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    listed = _call(
        "apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages",
        "Origin: Debian")
    sources = [line for line in listed.splitlines() if line.split()[2].startswith(release)]
    assert sources, f"apt knows no packages of Debian {release} on this machine: apt-get update"
    with tempfile.NamedTemporaryFile("w", suffix=".list") as file:
        file.write("\n".join(sources) + "\n")
        file.flush()
        _call(
            "mmdebstrap", "--variant=minbase", "--mode=root", "--format=directory",
            "--include=systemd,systemd-sysv,dbus", f"--customize-hook=copy-in {package} /srv",
            f"--customize-hook={DOWNLOAD}", release, str(folder), file.name)
    _call("unshare", "--mount", "--net", "sh", "-c", FINISH, "sh", str(folder))
    return str(folder)


def _call(*command):
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}:\n{done.stdout[-4000:]}"
    return done.stdout


def _cgroups():
    """The folder of all cgroups of the second kind."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        found = [line.split()[1] for line in file if line.split()[2] == "cgroup2"]
    assert found, "this machine has no cgroups of version 2"
    return found[0]


class Machine:
    """A machine that has booted, reached from this one at `address`. It reaches nothing else."""

    def __init__(self, root):
        assert os.geteuid() == 0, "a machine is made as root"
        # As in chaos_network: addresses for tests of networks.
        block = (os.getpid() * 4 + next(_numbers)) % 16_000
        network = f"198.18.{block // 64}."
        self.address = f"{network}{block % 64 * 4 + 2}"
        folder = tempfile.mkdtemp(prefix="backline-machine-")
        os.chmod(folder, 0o755)
        for name in ("upper", "work", "merged"):
            os.mkdir(os.path.join(folder, name), 0o755)
        link, cgroup = f"bm{block}", os.path.join(_cgroups(), os.path.basename(folder))
        self._supervisor = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", SUPERVISE, "supervisor", cgroup, folder, root, INIT, str(os.getpid()),
             link, self.address],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, start_new_session=True, cwd="/")
        try:
            self.boot()
            _call("ip", "address", "add", f"{network}{block % 64 * 4 + 1}/30", "dev", link)
            _call("ip", "link", "set", link, "up")
        except BaseException:
            self.close()
            raise

    def boot(self):
        """Starts it, as soon as it is off; returns when its services have started."""
        self._supervisor.stdin.write("boot\n")
        self._first = self._supervisor.stdout.readline().strip()
        assert self._first.isdigit(), "the machine does not start"
        backline.eventually(self._is_up, "the machine is up")

    def _is_up(self):
        return self.run("systemctl", "is-system-running", check=False).stdout.strip() in ("running", "degraded")

    def reboot(self):
        """Its disk and its address stay."""
        self.run("systemctl", "poweroff", check=False)
        self.boot()

    def run(self, *command, check=True, **options):
        """Runs a command as root; returns its completed process, with both outputs as text."""
        options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run(
            ["nsenter", "--target", self._first, "--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--wd",
             "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8",
             "DEBIAN_FRONTEND=noninteractive", "sh", "-c", ENTER, "/sys/fs/cgroup/test", *command],
            capture_output=True, text=True, errors="replace", **options)
        assert not check or done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done

    def read(self, path):
        return self.run("cat", path).stdout

    def write(self, path, text):
        self.run("sh", "-c", 'mkdir -p "$(dirname "$1")" && cat >"$1"', "sh", path, stdin=None, input=text)

    def copy_in(self, path, to):
        """Copies a file of this machine into that one."""
        with open(path, "rb") as file:
            self.run("sh", "-c", 'cat >"$1"', "sh", to, stdin=file)

    def close(self):
        self._supervisor.stdin.close()
        self._supervisor.wait()
        self._supervisor.stdout.close()
