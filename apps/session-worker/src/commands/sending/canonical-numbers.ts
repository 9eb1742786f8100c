/**
 * The network's own name of a number. In Mexico, Argentina and Brazil one number is written in two ways, of which the
 * network uses one; a send under the other would begin a second chat beside that of the answers to it.
 *
 * What it guarantees: the network is asked about a number once, and its answer is stored; a number it does not know is
 * asked about again after some minutes. Where it does not answer, the number is taken as it was typed and nothing is
 * remembered. Numbers of other countries cost nothing.
 */
import { FencedError } from '@dormouse/database';
import type { NumberNames } from '@dormouse/message-store/write';
import { endsWithin } from '../../socket/deferred.js';
import type { OpenSession } from '../../socket/open-session.js';
import type { CheckedNumbers } from './recent-numbers.js';

/** 52 Mexico (1 before mobiles), 54 Argentina (9 before mobiles), 55 Brazil (the ninth digit). */
const WRITTEN_IN_SEVERAL_WAYS = /^5[245]\d{8,}$/;
const ANSWER_WITHIN_MS = 5_000;

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
    return this.ask(session, digits);
  }

  private async ask(session: OpenSession, digits: string): Promise<string> {
    let answer: ReadonlyMap<string, string> | undefined;
    const asked = session.network.people.findNumbers([digits]).then((found) => void (answer = found));
    await endsWithin(
      ANSWER_WITHIN_MS,
      asked.catch(() => undefined),
    );
    if (!answer) return digits;
    const network = answer.get(digits);
    this.checked.set(digits, network ?? null);
    if (network === undefined) return digits;
    await this.names.record(session.fence, session.channelId, digits, network).catch((error: unknown) => {
      if (error instanceof FencedError) throw error;
      session.reportFault(error); // it is asked again some time
    });
    return network;
  }
}
