import { randomBytes } from 'node:crypto';
import { Refusal } from './refusal.js';
import type { Connection } from './connection.js';

/** How long the codes of a linking screen live. */
export interface QrTimings {
  /** The first code. */
  firstMs: number;
  /** Each later one. */
  nextMs: number;
  /** How many codes a screen gets before the client gives up. */
  count: number;
}

/** What a linking screen shows, as a phone's camera reads it. */
export interface ScannedCode {
  ref: string;
  noise: Buffer;
  identity: Buffer;
  advSecret: Buffer;
}

interface ActiveCode {
  connection: Connection;
  fromMs: number;
  untilMs: number;
}

/** A phone shows the previous code a little longer than the client: a scan at the edge still counts. */
const GRACE_MS = 5000;
const EXPIRED_LIMIT = 10_000;

/** The codes that unlinked clients show now. */
export class PairingCodes {
  private readonly active = new Map<string, ActiveCode>();
  private readonly expired = new Set<string>();

  constructor(
    private readonly timings: QrTimings,
    private readonly now: () => number,
  ) {}

  /** Makes the codes for one linking screen, in the order in which it shows them. */
  issue(connection: Connection): string[] {
    const refs: string[] = [];
    const start = this.now();
    for (let index = 0; index < this.timings.count; index++) {
      const ref = `2@${randomBytes(48).toString('base64url')}`;
      const untilMs = start + this.timings.firstMs + index * this.timings.nextMs + GRACE_MS;
      this.active.set(ref, { connection, fromMs: start, untilMs });
      refs.push(ref);
    }
    return refs;
  }

  /** The connection that shows this code; 'expired' when it did once, `undefined` when no such code was ever issued. */
  find(ref: string): Connection | 'expired' | undefined {
    const active = this.active.get(ref);
    if (!active) return this.expired.has(ref) ? 'expired' : undefined;
    if (this.now() <= active.untilMs && active.connection.open) return active.connection;
    // Only this one: the screen may show a later code of the same connection by now.
    this.forgetCode(ref);
    return 'expired';
  }

  /** Forgets the codes of a connection that linked or closed. */
  forget(connection: Connection): void {
    for (const [ref, active] of this.active) if (active.connection === connection) this.forgetCode(ref);
  }

  /** The connections that show a code now, with their first code. */
  waiting(): { ref: string; connection: Connection }[] {
    const firstOf = new Map<Connection, string>();
    for (const [ref, { connection }] of this.active) {
      if (connection.open && !firstOf.has(connection)) firstOf.set(connection, ref);
    }
    return [...firstOf].map(([connection, ref]) => ({ ref, connection }));
  }

  private forgetCode(ref: string): void {
    this.active.delete(ref);
    this.expired.add(ref);
    const [oldest] = this.expired;
    if (this.expired.size > EXPIRED_LIMIT && oldest !== undefined) this.expired.delete(oldest);
  }
}

/**
 * Parses the text of a code: `ref,noise key,identity key,secret,platform`, in newer clients behind a link.
 * Throws {@link Refusal} 400 when it is no such code.
 */
export function parseCode(text: string): ScannedCode {
  const bare = text.trim().slice(text.trim().lastIndexOf('#') + 1);
  const [ref, noise, identity, advSecret] = bare.split(',');
  if (!ref || !noise || !identity || !advSecret) throw new Refusal(400, 'This is not the text of a linking code.');
  return {
    ref,
    noise: Buffer.from(noise, 'base64'),
    identity: Buffer.from(identity, 'base64'),
    advSecret: Buffer.from(advSecret, 'base64'),
  };
}
