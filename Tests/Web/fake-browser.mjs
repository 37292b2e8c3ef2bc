// A browser's network and page, as far as the wire uses them: a test opens, feeds and cuts the sockets.

/** A WebSocket that does what the test says. */
export class FakeWebSocket {
  static CONNECTING = 0;
  static OPEN = 1;
  static CLOSED = 3;
  /** @type {FakeWebSocket[]} every one that was made, oldest first */
  static made = [];

  readyState = 0;
  sent = [];
  madeAt = Date.now();

  constructor(url, protocol) {
    this.url = String(url);
    this.protocol = protocol;
    FakeWebSocket.made.push(this);
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    if (this.readyState === 3) return;
    // A browser writes an error to its console then, which only a handshake that is late is worth.
    if (this.readyState === 0 && Date.now() - this.madeAt < 1000) throw new Error('closed before the connection is established');
    this.readyState = 3;
    this.wasClosed = true;
  }

  /** The server accepts the handshake. */
  open() {
    this.readyState = 1;
    this.onopen?.();
  }

  /** The server sends these messages. */
  say(...messages) {
    for (const message of messages) this.onmessage?.({ data: JSON.stringify(message) });
  }

  /** The connection ends: 1006 is a failed handshake or a lost network. */
  end(code = 1006) {
    this.readyState = 3;
    this.onclose?.({ code });
  }

  /** Answers the questions for the time so far, `aheadMs` ahead of `now`, after a delay on each way. */
  sentOf(type) {
    return this.sent.filter((message) => message.type === type);
  }
}

/** Gives a document the cookies that scripts see. */
function withCookies(document, keeps) {
  const jar = new Map();
  return Object.defineProperty(document, 'cookie', {
    get: () => [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
    set(text) {
      const [pair, ...attributes] = text.split('; ');
      const [name, value] = pair.split('=');
      if (attributes.includes('max-age=0')) jar.delete(name);
      else if (keeps.includes(attributes.includes('secure') ? 'secure' : 'plain')) jar.set(name, value);
    },
  });
}

/**
 * Puts a browser's names into this process; `answers` maps `METHOD path` to `[status, body]` or 'offline'.
 *
 * `keeps` are the kinds of cookies that the browser keeps.
 */
export function browser(t, {
  path = '/r/7K3M9Q', session = { id: 's1', name: 'Ana' }, origin = 'https://localhost:8080', isSecureContext = true, keeps = ['plain', 'secure'],
} = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  t.mock.timers.tick(1_732_200_000_000);
  // All clocks are those of the test: a busy machine changes no result.
  t.mock.method(performance, 'now', () => Date.now() - 1_732_200_000_000);
  FakeWebSocket.made = [];
  const page = new EventTarget(), kept = new Map(), requests = [], answers = {};
  if (session) kept.set('backline.session', JSON.stringify(session));
  // Node has one of its own, which cannot be set.
  Object.defineProperty(globalThis, 'navigator', { value: { onLine: true }, configurable: true, writable: true });
  Object.assign(globalThis, {
    WebSocket: FakeWebSocket,
    document: withCookies(Object.assign(new EventTarget(), { visibilityState: 'visible' }), keeps),
    isSecureContext,
    location: new URL(path, origin),
    addEventListener: page.addEventListener.bind(page),
    removeEventListener: page.removeEventListener.bind(page),
    localStorage: {
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, value) => kept.set(name, value),
      removeItem: (name) => kept.delete(name),
    },
    fetch: async (url, { method = 'GET', body } = {}) => {
      requests.push([method, url, body && JSON.parse(body)]);
      const answer = answers[`${method} ${String(url).replace(/\?.*/, '')}`] ?? 'offline';
      if (answer === 'offline') throw new TypeError('Failed to fetch');
      return new Response(answer[0] === 204 ? null : JSON.stringify(answer[1]), { status: answer[0] });
    },
  });
  const settle = async () => {
    for (let i = 0; i < 12; i++) await new Promise(setImmediate);
  };
  return {
    answers, requests, kept, settle,
    sockets: FakeWebSocket.made,
    /** Moves the clocks; timers that are due run, and what they wait for. */
    async pass(ms) {
      t.mock.timers.tick(ms);
      await settle();
    },
    /** The page sleeps: the clocks move and no timer runs until it is seen again. */
    async event(name, target = 'page') {
      (target === 'page' ? page : document).dispatchEvent(new Event(name));
      await settle();
    },
    async visibility(state) {
      document.visibilityState = state;
      document.dispatchEvent(new Event('visibilitychange'));
      await settle();
    },
  };
}
