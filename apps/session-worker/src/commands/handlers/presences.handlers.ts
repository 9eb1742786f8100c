import {
  chatIdOf,
  GatewayError,
  readRecipient,
  type SendPresenceInput,
  type Success,
} from '@dormouse/gateway-contract';
import type { OpenSession } from '../../socket/open-session.js';
import type { Handlers } from '../command-context.js';
import { findRecipient, type RecipientTools } from '../sending/recipient.js';

/** What handlers of presences need. */
export interface PresenceTools extends RecipientTools {
  readonly wait: (ms: number) => Promise<void>;
}

const DONE: Success = { success: true };
/** Phones show an indicator for some seconds only: one that is to last longer is shown again. */
const SHOWN_AGAIN_AFTER_MS = 10_000;
/** An hour: whoever forgets to end it does not type for ever. */
const LONGEST_S = 3_600;

export function presenceHandlers(tools: PresenceTools): Pick<Handlers, 'presences.setOwn' | 'presences.send'> {
  const indicators = new Indicators(tools.wait);
  return {
    'presences.setOwn': async (context, { presence }) => {
      const { network, identity } = context.session();
      // The network takes no presence of somebody without a name, and the library keeps silent about it.
      if (identity.pushName === undefined) {
        throw new GatewayError(502, { details: 'the network shows no presence before the number has a name' });
      }
      await network.profile.setOnline(presence === 'online');
      return DONE;
    },
    'presences.send': async (context, { to, presence, delay }) => {
      const session = context.session();
      const jid = await addressOf(session, tools, to);
      await indicators.show(session, jid, presence, delay);
      return DONE;
    },
  };
}

/** Typing is shown in groups, too, whoever may write there. */
async function addressOf(session: OpenSession, tools: PresenceTools, to: string): Promise<string> {
  const recipient = readRecipient(to);
  if (recipient?.kind !== 'group') return (await findRecipient(session, tools, to)).jid;
  const groupId = chatIdOf(recipient);
  await session.group(groupId);
  return groupId;
}

/** What is shown in which chat, and when it ends. A later one in the same chat takes its place. */
class Indicators {
  private readonly shown = new WeakMap<OpenSession, Map<string, symbol>>();

  constructor(private readonly wait: (ms: number) => Promise<void>) {}

  async show(
    session: OpenSession,
    jid: string,
    presence: SendPresenceInput['presence'],
    delayS: number,
  ): Promise<void> {
    const turn = Symbol(jid);
    const turns = this.shown.get(session) ?? new Map<string, symbol>();
    this.shown.set(session, turns);
    turns.set(jid, turn);
    await session.network.profile.showInChat(jid, presence);
    if (presence === 'pause' || delayS === 0) {
      turns.delete(jid);
      return;
    }
    const last = () => turns.get(jid) === turn;
    void this.keep(session, jid, presence, Math.min(delayS, LONGEST_S) * 1_000, last).then(
      () => last() && turns.delete(jid),
      () => turns.delete(jid), // the connection is gone, and what it showed with it
    );
  }

  private async keep(
    { network }: OpenSession,
    jid: string,
    indicator: 'typing' | 'recording',
    forMs: number,
    last: () => boolean,
  ): Promise<void> {
    for (let leftMs = forMs; leftMs > 0; leftMs -= SHOWN_AGAIN_AFTER_MS) {
      if (leftMs < forMs) await network.profile.showInChat(jid, indicator);
      await this.wait(Math.min(leftMs, SHOWN_AGAIN_AFTER_MS));
      if (!last()) return;
    }
    await network.profile.showInChat(jid, 'pause');
  }
}
