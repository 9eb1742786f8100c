import { Writable } from 'node:stream';
import { pino, type Logger } from 'pino';
import type { Network } from '../network/network.js';

/** How close to something about a message a line about its author's or reader's number has to be, in milliseconds. */
const NEAR_MS = 2000;
/** Ids of messages, wherever they stand in a line. */
const MESSAGE_ID = /\b3(?:EB0|A)[0-9A-F]{18}\b/g;
/** The fields of a log line that are shown; nothing else of the library's lines, which may hold whole stanzas. */
const SHOWN_FIELDS = [
  'from',
  'to',
  'by',
  'author',
  'participant',
  'category',
  'count',
  'kind',
  'error',
  'err',
  'trace',
  'reason',
] as const;
/** One line of a log, as far as it is read here. */
interface Line {
  time: number;
  msg: string;
  phone?: string;
  device?: number;
}

/** What happened at a time. */
interface Happening {
  atMs: number;
  what: string;
}

/**
 * What happened to each message and each number of a random run, so that what it finds can be traced: it is made of the
 * debug logs of the network and of the clients, and of what the run notes itself.
 */
export class RandomHistory {
  /** For the network; it writes nowhere else. */
  readonly log: Logger = pino({ level: 'debug' }, this.reader(''));
  private readonly byMessage = new Map<string, Happening[]>();
  private readonly byPhone = new Map<string, Happening[]>();

  /** The log of a client's library. */
  clientLog(phone: string): Logger {
    return pino({ level: 'info', serializers: { error: pino.stdSerializers.err } }, this.reader(` ${phone}'s client`));
  }

  /** Notes something that befalls a number. */
  note(phone: string, what: string): void {
    add(this.byPhone, phone, { atMs: Date.now(), what: `${phone} ${what}` });
  }

  /** All there is about a message, and about these numbers close to it, oldest first, with seconds since the start. */
  of(network: Network, id: string, phones: readonly string[], startMs: number): string[] {
    const own = this.byMessage.get(id) ?? [];
    const lines = network.connections.log
      .filter(({ phone }) => phones.includes(phone))
      .map(({ phone, device, at, event }) => ({ atMs: Date.parse(at), what: `${phone}:${device} line ${event}` }));
    const near = [...lines, ...phones.flatMap((phone) => this.byPhone.get(phone) ?? [])].filter(({ atMs }) =>
      own.some((one) => Math.abs(one.atMs - atMs) <= NEAR_MS),
    );
    return [...own, ...near]
      .sort((a, b) => a.atMs - b.atMs)
      .map(({ atMs, what }) => `${((atMs - startMs) / 1000).toFixed(3)} ${what}`);
  }

  private reader(whose: string): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.read(chunk.toString(), whose);
        done();
      },
    });
  }

  private read(text: string, whose: string): void {
    const ids = new Set(text.match(MESSAGE_ID) ?? []);
    const line = JSON.parse(text) as Line & Record<string, unknown>;
    if (ids.size === 0 && line.phone === undefined) return;
    const happening = { atMs: line.time, what: describe(line, whose) };
    for (const id of ids) add(this.byMessage, id, happening);
    if (ids.size === 0 && line.phone !== undefined) add(this.byPhone, line.phone, happening);
  }
}

function add(to: Map<string, Happening[]>, key: string, happening: Happening): void {
  const known = to.get(key);
  if (known) known.push(happening);
  else to.set(key, [happening]);
}

function describe(line: Line & Record<string, unknown>, whose: string): string {
  const details = SHOWN_FIELDS.flatMap((name) => {
    const value = line[name];
    const text = value !== null && typeof value === 'object' && 'message' in value ? value.message : value;
    return typeof text === 'string' || typeof text === 'number'
      ? [`${name}=${String(text).split('\n', 1).join()}`]
      : [];
  });
  const place = line.phone === undefined ? whose : ` ${line.phone}${line.device ? `:${line.device}` : ''}`;
  return [`${place}:`.trimStart(), line.msg, ...details].join(' ');
}
