/**
 * The network's own form of a number. In Mexico, Argentina and Brazil one number is written in two ways, of which the
 * network uses one; a send to the other would begin a second chat beside the one that its replies come from.
 *
 * What it guarantees: the network is queried about a number once, and its answer is stored; about an unknown number it is
 * queried again after some minutes. Where it does not answer, the number is used as it was typed and nothing is cached.
 * Numbers of other countries cost nothing.
 */
import { FencedError } from '@dormouse/database';
import type { NumberNames } from '@dormouse/message-store/write';
import pTimeout from 'p-timeout';
import type { OpenSession } from '../../socket/open-session.js';
import type { CheckedNumbers } from './recent-numbers.js';

/**
 * 52 Mexico (1 before mobiles), 54 Argentina (9 before mobiles), 55 Brazil (the ninth digit). No rule gives the form that
 * the network uses: it depends on when a number was registered (wwebjs/whatsapp-web.js#596).
 */
const WRITTEN_IN_SEVERAL_WAYS = /^5[245]\d{8,}$/;
const QUERY_TIMEOUT_MS = 5_000;

export class CanonicalNumbers {
  constructor(
    private readonly checked: CheckedNumbers,
    private readonly names: Pick<NumberNames, 'find' | 'record'>,
  ) {}

  /** @param digits a number as a customer wrote it */
  async of(session: OpenSession, digits: string): Promise<string> {
    if (!WRITTEN_IN_SEVERAL_WAYS.test(digits)) return digits;
    const recent = this.checked.get(digits);
    if (recent !== undefined) return recent ?? digits;
    const stored = await this.names.find(session.channelId, digits);
    if (stored !== undefined) {
      this.checked.set(digits, stored);
      return stored;
    }
    return this.queryNetwork(session, digits);
  }

  private async queryNetwork(session: OpenSession, digits: string): Promise<string> {
    const answer = await pTimeout(session.network.people.findNumbers([digits]), {
      milliseconds: QUERY_TIMEOUT_MS,
    }).catch(() => undefined);
    if (!answer) return digits;
    const network = answer.get(digits);
    this.checked.set(digits, network ?? null);
    if (network === undefined) return digits;
    await this.names.record(session.fence, session.channelId, digits, network).catch((error: unknown) => {
      if (error instanceof FencedError) throw error;
      session.reportFault(error); // it is queried and recorded again later
    });
    return network;
  }
}
