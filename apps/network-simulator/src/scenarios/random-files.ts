import { setTimeout } from 'node:timers/promises';
import { downloadMediaMessage, type proto, type WAMessage } from '@whiskeysockets/baileys';
import { openFile } from '../media/media-crypto.js';
import type { Simulator } from '../simulator.js';
import type { Client } from './client.js';
import { mediaThrough } from './loopback-media.js';
import type { Sent } from './random-contents.js';
import type { RandomPeople } from './random-people.js';

const REOPEN_WITHIN_MS = 5000;
/** How many of the expired files are opened again at the end. */
const LAST_LOOK = 20;

interface Expired {
  one: Sent;
  client: Client;
  message: WAMessage;
}

/** Files that expire: who cannot fetch one any more requests another upload from the own phone, and then must get the same. */
export class RandomFiles {
  /** How many files a client opened after they had expired. */
  reopened = 0;
  readonly wrong: string[] = [];
  private readonly expired: Expired[] = [];
  private readonly options: object;

  constructor(
    private readonly simulator: Simulator,
    private readonly people: RandomPeople,
    private readonly sent: readonly Sent[],
  ) {
    this.options = mediaThrough(simulator).options ?? {};
  }

  /** Lets a file expire that some connected client has, and opens it there. False when there is none. */
  async expireOne(expire: (directPath: string) => Promise<unknown>): Promise<boolean> {
    const known = new Set(this.expired.map(({ one }) => one));
    const files = this.sent.slice(-300).filter((one) => one.bytes && one.changed !== true && !known.has(one));
    const candidates = files.flatMap((one) => this.holdersOf(one));
    if (candidates.length === 0) return false;
    const chosen = this.people.pick(candidates);
    const directPath = documentOf(chosen.message)?.directPath?.replace(/\?.*$/, '');
    if (directPath === undefined) return false;
    this.expired.push(chosen);
    await expire(directPath);
    // The line may be cut meanwhile, or the transfer broken: only what arrives has to be right.
    const bytes = await this.renew(chosen)
      .then((message) => this.fetch(message))
      .catch(() => undefined);
    if (bytes) this.compare(chosen, bytes);
    return true;
  }

  /** Now that nothing goes wrong any more: what expired can be opened by clients that are still linked. */
  async lastLook(): Promise<void> {
    const linked = this.expired.filter(({ client }) => this.people.all.some((person) => person.client === client));
    for (const one of linked.slice(-LAST_LOOK)) {
      try {
        const renewed = await this.renew(one);
        this.compare(one, await downloadMediaMessage(renewed, 'buffer', { options: this.options }));
      } catch (error) {
        this.wrong.push(`file ${one.one.id} at ${one.client.jid}: not opened again: ${String(error)}`);
      }
    }
  }

  private holdersOf(one: Sent): Expired[] {
    return one.readers.flatMap(({ person, client }): Expired[] => {
      if (!client?.online || person.client !== client) return [];
      const shown = client.messages.find(({ message }) => message.key.id === one.id && message.message);
      return shown ? [{ one, client, message: shown.message }] : [];
    });
  }

  private compare({ one, client }: Expired, bytes: Buffer): void {
    this.reopened++;
    if (!one.bytes?.equals(bytes)) this.wrong.push(`file ${one.id} at ${client.jid}: another file after it expired`);
  }

  /** Requests another upload of the file from the own phone; resolves with the message as it is then. */
  private async renew({ client, message }: Expired): Promise<WAMessage> {
    const late = new AbortController();
    const deadline = setTimeout(REOPEN_WITHIN_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error('The phone does not upload it again.');
    });
    try {
      return await Promise.race([client.socket.updateMediaMessage(message), deadline]);
    } finally {
      late.abort();
      deadline.catch(() => undefined);
    }
  }

  /** Fetches and opens a file without the library, which ends the whole process when a transfer breaks off. */
  private async fetch(message: WAMessage): Promise<Buffer> {
    const { directPath, mediaKey } = documentOf(message) ?? {};
    const response = await fetch(this.simulator.control + (directPath ?? ''));
    if (!response.ok) throw new Error(`The file cannot be fetched: ${response.status}.`);
    return openFile(Buffer.from(await response.arrayBuffer()), mediaKey ?? Buffer.alloc(0), 'Document');
  }
}

function documentOf({ message }: WAMessage): proto.Message.IDocumentMessage | undefined {
  return message?.documentMessage ?? message?.documentWithCaptionMessage?.message?.documentMessage ?? undefined;
}
