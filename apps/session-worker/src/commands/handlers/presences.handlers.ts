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
/** Phones show an indicator for some seconds only: a longer one is repeated at this interval. */
const REPEAT_INTERVAL_MS = 10_000;
/** An hour: an indicator that is never ended is not shown for ever. */
const LONGEST_S = 3_600;

export function presenceHandlers(tools: PresenceTools): Pick<Handlers, 'presences.setOwn' | 'presences.send'> {
  const indicators = new Indicators(tools.wait);
  return {
    'presences.setOwn': async (context, { presence }) => {
      const { network, identity } = context.session();
      // The network accepts no presence of a number without a name, and the library does not report that.
      if (identity.pushName === undefined) {
        throw new GatewayError(502, {
          details: 'the network accepts no presence before the number has a profile name',
        });
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

/** Typing is shown in groups, too, also where only admins write. */
async function addressOf(session: OpenSession, tools: PresenceTools, to: string): Promise<string> {
  const recipient = readRecipient(to);
  if (recipient?.kind !== 'group') return (await findRecipient(session, tools, to)).jid;
  const groupId = chatIdOf(recipient);
  await session.group(groupId);
  return groupId;
}

/** The indicators that are shown, by chat. A later one in the same chat replaces the one before. */
class Indicators {
  private readonly shown = new WeakMap<OpenSession, Map<string, symbol>>();

  constructor(private readonly wait: (ms: number) => Promise<void>) {}

  async show(
    session: OpenSession,
    jid: string,
    presence: SendPresenceInput['presence'],
    delayS: number,
  ): Promise<void> {
    const shown = Symbol(jid);
    const inChats = this.shown.get(session) ?? new Map<string, symbol>();
    this.shown.set(session, inChats);
    inChats.set(jid, shown);
    await session.network.profile.showInChat(jid, presence);
    if (presence === 'pause' || delayS === 0) {
      inChats.delete(jid);
      return;
    }
    const isLatest = () => inChats.get(jid) === shown;
    void this.repeat(session, jid, presence, Math.min(delayS, LONGEST_S) * 1_000, isLatest).then(
      () => isLatest() && inChats.delete(jid),
      () => inChats.delete(jid), // the connection is gone, and its indicators with it
    );
  }

  private async repeat(
    { network }: OpenSession,
    jid: string,
    indicator: 'typing' | 'recording',
    forMs: number,
    isLatest: () => boolean,
  ): Promise<void> {
    for (let leftMs = forMs; leftMs > 0; leftMs -= REPEAT_INTERVAL_MS) {
      if (leftMs < forMs) await network.profile.showInChat(jid, indicator);
      await this.wait(Math.min(leftMs, REPEAT_INTERVAL_MS));
      if (!isLatest()) return;
    }
    await network.profile.showInChat(jid, 'pause');
  }
}
