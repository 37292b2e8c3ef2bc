"""A private PostgreSQL: its own folder, its own port, started and stopped at will.

As root the server's programs run as the user `postgres`, because they refuse to run as root.
"""

import glob
import itertools
import os
import shutil
import subprocess
import tempfile

from ports import free_port


class Cluster:
    """One PostgreSQL server on 127.0.0.1."""

    def __init__(self, networks=(), primary=None, fsync=True):
        """`networks` are addresses to listen on besides 127.0.0.1, each for clients from its own /30.

        With a `primary`, it is a standby of it, which follows without being waited for. Without `fsync`, what it
        acknowledged survives `stop("immediate")` all the same: only a crash of the whole system would lose it.
        """
        self.programs = _programs()
        self.folder = tempfile.mkdtemp(prefix="backline-postgres-")
        self.data = os.path.join(self.folder, "data")
        self.port = free_port()
        self._databases = itertools.count(1)
        #: The name of the database of which new ones are copies; None: they are empty.
        self.template = None
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        try:
            if primary is None:
                self._run(
                    "initdb", "-D", self.data, "-U", "backline", "-A", "trust", "-E", "UTF8", "--no-locale",
                    "--no-sync",
                )
            else:
                self._run(
                    "pg_basebackup", "-D", self.data, "-h", "127.0.0.1", "-p", str(primary.port), "-U", "backline",
                    "--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf", "--no-sync",
                )
            with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as settings:
                settings.write(
                    f"listen_addresses = '{','.join(['127.0.0.1', *networks])}'\nport = {self.port}\n"
                    f"unix_socket_directories = '{self.folder}'\nmax_connections = 100\n"
                    + ("" if fsync else "fsync = off\nfull_page_writes = off\n")
                )
            with open(os.path.join(self.data, "pg_hba.conf"), "a", encoding="utf-8") as rules:
                rules.writelines(f"host all all {address}/30 trust\n" for address in networks)
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        log = os.path.join(self.folder, "log")
        self._run("pg_ctl", "-D", self.data, "-l", log, "-w", "-t", "60", "start")

    @property
    def running(self):
        return os.path.exists(os.path.join(self.data, "postmaster.pid"))

    def stop(self, mode="immediate"):
        self._run("pg_ctl", "-D", self.data, "-m", mode, "-w", "-t", "60", "stop")

    def has_all_of(self, primary):
        """Whether a standby has replayed all that its primary has written."""
        written = primary.sql("SELECT pg_current_wal_lsn()", "postgres")
        return self.sql(f"SELECT pg_last_wal_replay_lsn() >= '{written}'", "postgres") == "t"

    def stop_following(self):
        """From now on a standby gets nothing more from its primary."""
        self.sql("ALTER SYSTEM SET primary_conninfo = ''", "postgres")
        self.sql("SELECT pg_reload_conf()", "postgres")

    @property
    def is_following(self):
        return self.sql("SELECT count(*) FROM pg_stat_wal_receiver", "postgres") != "0"

    def promote(self):
        """Makes a standby a primary; returns when it takes writes."""
        self._run("pg_ctl", "-D", self.data, "-w", "-t", "60", "promote")

    def database(self):
        """Makes a database that is a copy of the template, or empty where there is none; returns its URL."""
        return self._made(self.template or "template1")

    def empty_database(self):
        """Makes a database without tables; returns its URL."""
        return self._made("template1")

    def _made(self, template):
        name = f"backline_{next(self._databases)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template}", database="postgres")
        return self.url(name)

    def url(self, name, host="127.0.0.1"):
        return f"postgres://backline@{host}:{self.port}/{name}"

    def backends(self):
        """The processes that serve connections, each with its current activity."""
        with open(os.path.join(self.data, "postmaster.pid"), encoding="ascii") as file:
            postmaster = int(file.readline())
        with open(f"/proc/{postmaster}/task/{postmaster}/children", encoding="ascii") as file:
            children = [int(child) for child in file.read().split()]
        found = {}
        for child in children:
            try:
                with open(f"/proc/{child}/cmdline", "rb") as file:
                    line = file.read().rstrip(b"\0 ").decode(errors="replace")
            except OSError:
                continue  # It has ended meanwhile.
            if line.startswith("postgres: backline "):
                found[child] = line
        return found

    def sql(self, statement, database):
        """Runs SQL; returns psql's output, one line a row, columns separated by `|`."""
        return self._run(
            "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port),
            "-U", "backline", "-d", database, "-c", statement,
        ).strip()

    def script(self, text, database):
        """Runs a script as if typed into psql; returns its output, one line a row, columns separated by `|`."""
        path = os.path.join(self.folder, "script.sql")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return self._run(
            "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port),
            "-U", "backline", "-d", database, "-f", path,
        ).strip()

    def close(self):
        if self.running:
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program, *arguments):
        command = [os.path.join(self.programs, program), *arguments]
        if os.geteuid() == 0 and program != "psql":
            command = ["runuser", "-u", "postgres", "--", *command]
        # pg_ctl's child inherits its descriptors: its output goes to a file, so that no reader waits for a pipe to
        # close.
        with tempfile.TemporaryFile() as output:
            code = subprocess.run(
                command, cwd="/", stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, timeout=120,
            ).returncode
            output.seek(0)
            text = output.read().decode(errors="replace")
        if code != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {code}:\n{text}")
        return text


def _programs():
    """The folder of the newest PostgreSQL server on this machine."""
    folders = [os.path.dirname(path) for path in glob.glob("/usr/lib/postgresql/*/bin/initdb")]
    if folders:
        return max(folders, key=lambda folder: int(folder.split("/")[4]))
    found = shutil.which("initdb")
    if found is None:
        raise RuntimeError("these tests need PostgreSQL's server programs (Debian: apt-get install postgresql)")
    return os.path.dirname(os.path.realpath(found))
