/**
 * Codes to link a channel: one to scan, which the network replaces every 20 s, and letters to be entered on the phone.
 *
 * Guarantees: all callers share one pairing and get the same codes; letters stay the same until they expire, however often they are
 * requested, and both kinds can be used side by side. A code is given once its state is stored, so that who sees it finds the
 * pairing in the directory, to end it for example.
 */
import { GatewayError, type LoginCode } from '@dormouse/gateway-contract';
import type { LiveSession } from '../socket/live-session.js';
import type { Linking } from './linking.js';
import { notConnected } from './session-identity.js';
import type { SessionRecord } from './session-record.js';

/** What a pairing needs of its session. */
export interface PairingSession {
  readonly record: Pick<SessionRecord, 'linked' | 'state' | 'changed' | 'settled'>;
  readonly linking: Linking;
  readonly now: () => number;
  readonly isRetired: () => boolean;
  readonly live: () => LiveSession | undefined;
  /** Begins a pairing. */
  readonly begin: () => void;
  /** Ends the one that runs; its codes are worthless then. */
  readonly end: () => Promise<void>;
}

export class LoginCodes {
  constructor(private readonly session: PairingSession) {}

  /** See SessionControl.loginCode. */
  async scan(deadlineMs: number): Promise<LoginCode> {
    const { record, linking, now, isRetired, begin } = this.session;
    for (let waited = false; ; waited = true) {
      if (isRetired()) throw notConnected('redeploying', 2);
      if (record.linked) throw new GatewayError(403, { details: 'the channel is linked already: log out first' });
      const code = linking.current;
      if (code) {
        await record.settled();
        return linking.current ?? code;
      }
      if (record.state === 'closed') {
        linking.assertMayBegin(waited);
        begin();
      }
      if (!(await record.changed.changedBy(deadlineMs, now))) {
        throw notConnected('the network has not offered a code yet', 2);
      }
    }
  }

  /** See SessionControl.phoneCode. */
  async letters(phone: string, deadlineMs: number): Promise<LoginCode> {
    const { linking } = this.session;
    for (;;) {
      const known = linking.lettersFor(phone);
      if (known) return known;
      await this.scan(deadlineMs); // until then the network takes no request for letters
      const live = this.session.live();
      if (!live || !linking.lastsForLetters) {
        await this.session.end();
        continue;
      }
      const code = await live.phoneCode(phone);
      if (this.session.live() === live) linking.offerLetters(phone, code);
    }
  }
}
