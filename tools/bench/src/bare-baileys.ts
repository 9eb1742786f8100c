/**
 * What one would have without Dormouse: Baileys sockets in one process, keys in memory, each send awaited until the
 * network acknowledged it. The yardstick of the benchmarks.
 */
import {
  type AuthenticationCreds,
  type BinaryNode,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
  generateMessageIDV2,
  initAuthCreds,
  makeWASocket,
  type WASocket,
} from '@whiskeysockets/baileys';

const silentLogger = {
  level: 'silent',
  child: () => silentLogger,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** libsignal prints ratchet keys through these. */
export function silenceLibsignal(): void {
  console.info = () => undefined;
  console.warn = () => undefined;
}

type Value = SignalDataTypeMap[keyof SignalDataTypeMap];

function memoryKeys(): SignalKeyStore {
  const rows = new Map<string, Value>();
  return {
    get: <Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) => {
      const found: Record<string, SignalDataTypeMap[Type]> = {};
      for (const id of ids) {
        const value = rows.get(`${type}:${id}`);
        if (value !== undefined) found[id] = value as SignalDataTypeMap[Type];
      }
      return found;
    },
    set: (data: SignalDataSet) => {
      for (const [type, entries] of Object.entries(data)) {
        for (const [id, value] of Object.entries(entries) as [string, Value | null][]) {
          if (value === null) rows.delete(`${type}:${id}`);
          else rows.set(`${type}:${id}`, value);
        }
      }
    },
  };
}

/** One linked number. */
export interface BareNumber {
  socket: WASocket;
  /** Resolves when the network acknowledged the text. */
  sendText(digits: string, text: string): Promise<void>;
  end(): void;
  /** Logs in anew with the same keys, once this socket has ended; resolves when it is open. */
  again(): Promise<BareNumber>;
}

/**
 * Links a new number and resolves when it is open.
 * @param scan shows the code to a phone
 */
export async function linkBareNumber(socketUrl: string, scan: (qr: string) => Promise<unknown>): Promise<BareNumber> {
  return openNumber(socketUrl, initAuthCreds(), memoryKeys(), scan);
}

async function openNumber(
  socketUrl: string,
  creds: AuthenticationCreds,
  keys: SignalKeyStore,
  scan: (qr: string) => Promise<unknown>,
): Promise<BareNumber> {
  const socket = await openBareSocket(socketUrl, creds, keys, scan);
  const waiting = new Map<string, () => void>();
  socket.ws.on('CB:ack,class:message', (node: BinaryNode) => {
    const id = node.attrs['id'] ?? '';
    waiting.get(id)?.();
    waiting.delete(id);
  });
  return {
    socket,
    sendText: async (digits, text) => {
      const messageId = generateMessageIDV2(socket.authState.creds.me?.id);
      const acknowledged = new Promise<void>((resolve) => waiting.set(messageId, resolve));
      await socket.sendMessage(`${digits}@s.whatsapp.net`, { text }, { messageId });
      await acknowledged;
    },
    end: () => void socket.end(undefined),
    again: () => openNumber(socketUrl, creds, keys, scan),
  };
}

/**
 * Opens a socket with this state, linking it first if it is new. Resolves when it is open.
 * @param scan shows the code to a phone
 */
export function openBareSocket(
  socketUrl: string,
  creds: AuthenticationCreds,
  keys: SignalKeyStore,
  scan: (qr: string) => Promise<unknown>,
): Promise<WASocket> {
  return new Promise((resolve, reject) => {
    const connect = () => {
      const socket = makeWASocket({
        waWebSocketUrl: socketUrl,
        auth: { creds, keys },
        logger: silentLogger,
        markOnlineOnConnect: false,
        syncFullHistory: false,
      });
      socket.ev.on('creds.update', (update) => Object.assign(creds, update));
      socket.ev.on('connection.update', ({ connection, qr, lastDisconnect }) => {
        if (qr !== undefined) scan(qr).catch(reject);
        if (connection === 'open') resolve(socket);
        if (connection !== 'close') return;
        const statusCode = (lastDisconnect?.error as { output?: { statusCode: number } } | undefined)?.output
          ?.statusCode;
        if (statusCode === 515) connect();
        else reject(lastDisconnect?.error ?? new Error('closed while linking'));
      });
    };
    connect();
  });
}
