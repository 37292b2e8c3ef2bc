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

  interface FileSystemHandle {
    /** Chromium only. */
    queryPermission?(options: { mode: 'read' }): Promise<PermissionState>;
    requestPermission(options: { mode: 'read' }): Promise<PermissionState>;
  }

  interface FileSystemFileHandle {
    createWritable(): Promise<WritableStream<Uint8Array>>;
  }

  interface FileSystemDirectoryHandle {
    values(): AsyncIterableIterator<FileSystemFileHandle | FileSystemDirectoryHandle>;
  }

  interface DataTransferItem {
    /** Chromium only. */
    getAsFileSystemHandle?(): Promise<FileSystemFileHandle | FileSystemDirectoryHandle | null>;
  }

  interface HTMLInputElement {
    oncancel: ((event: Event) => void) | null;
  }

  interface Window {
    /** Chromium only. */
    showOpenFilePicker?(options: {
      id: string;
      multiple: boolean;
      types: { accept: Record<string, string[]> }[];
    }): Promise<FileSystemFileHandle[]>;
    showDirectoryPicker?(options: { id: string; mode: 'read' }): Promise<FileSystemDirectoryHandle>;
    readonly trustedTypes?: {
      createPolicy(name: string, rules: { createScriptURL?: (input: string) => string }): TrustedTypePolicy;
    };
  }

  interface ServiceWorkerContainer {
    register(url: TrustedScriptURL, options?: RegistrationOptions): Promise<ServiceWorkerRegistration>;
  }

  // WebCodecs, as far as sound is decoded.
  interface AudioDecoderConfig {
    codec: string;
    sampleRate: number;
    numberOfChannels: number;
    description?: Uint8Array;
  }

  interface AudioData {
    readonly numberOfFrames: number;
    readonly numberOfChannels: number;
    readonly sampleRate: number;
    copyTo(destination: Float32Array, options: { planeIndex: number; format: 'f32-planar' }): void;
    close(): void;
  }

  class EncodedAudioChunk {
    constructor(init: { type: 'key'; timestamp: number; duration?: number; data: Uint8Array });
  }

  class AudioDecoder extends EventTarget {
    static isConfigSupported(config: AudioDecoderConfig): Promise<{ supported?: boolean }>;
    constructor(init: { output: (data: AudioData) => void; error: (error: DOMException) => void });
    readonly state: 'unconfigured' | 'configured' | 'closed';
    readonly decodeQueueSize: number;
    configure(config: AudioDecoderConfig): void;
    decode(chunk: EncodedAudioChunk): void;
    flush(): Promise<void>;
    close(): void;
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
