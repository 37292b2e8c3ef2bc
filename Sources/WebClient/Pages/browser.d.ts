// What browsers have and TypeScript 4.8 does not know. Only what the page uses.

export {};

declare global {
  interface WakeLockSentinel extends EventTarget {
    readonly released: boolean;
    release(): Promise<void>;
  }

  interface Navigator {
    readonly wakeLock?: { request(type: 'screen'): Promise<WakeLockSentinel> };
  }

  interface TrustedScriptURL {
    toString(): string;
  }

  interface TrustedTypePolicy {
    createScriptURL(input: string): TrustedScriptURL;
  }

  interface Window {
    readonly trustedTypes?: {
      createPolicy(name: string, rules: { createScriptURL?: (input: string) => string }): TrustedTypePolicy;
    };
  }

  interface ServiceWorkerContainer {
    register(url: TrustedScriptURL, options?: RegistrationOptions): Promise<ServiceWorkerRegistration>;
  }

  /** What the service worker uses of its global scope. */
  interface WorkerScope {
    readonly location: Location;
    readonly clients: { claim(): Promise<void> };
    skipWaiting(): Promise<void>;
    addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void;
    addEventListener(type: 'fetch', listener: (event: WorkerFetchEvent) => void): void;
    addEventListener(type: 'message', listener: (event: WorkerEvent & { data: any }) => void): void;
  }

  interface WorkerEvent extends Event {
    waitUntil(work: Promise<unknown>): void;
  }

  interface WorkerFetchEvent extends WorkerEvent {
    readonly request: Request;
    respondWith(answer: Promise<Response>): void;
  }
}
