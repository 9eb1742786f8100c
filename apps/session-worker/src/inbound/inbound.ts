/**
 * Hears what happens on the network and stores it. Subscribes once to each socket generation; see `channel-ear.ts` for
 * what is guaranteed about order and failures.
 */
import type { MessageWriter } from '@dormouse/message-store/write';
import type { BaileysEventMap } from '@whiskeysockets/baileys';
import type { Attachment, OpenSession, SessionListener } from '../sessions/open-session.js';
import { ChannelEar, type Patience } from './channel-ear.js';
import type { Hearing } from './hearing.js';
import { hearHistory } from './history.js';
import { hearMessages } from './messages.js';
import { hearChats, hearContacts, hearGroups, hearLidNumber } from './names.js';
import { hearGroupReceipts, hearUpdates } from './receipts.js';

export interface InboundOptions extends Patience {
  readonly writer: MessageWriter;
  /** Tells the dispatcher that there is something to tell; losing it is harmless. */
  readonly eventsReady: (channelId: string) => void;
}

type Heard = Partial<BaileysEventMap>;
type Step = (hearing: Hearing, heard: Heard) => Promise<void> | undefined;

/** What is listened to, in the order in which events that come together are stored: names before what is said. */
const STEPS: readonly Step[] = [
  (hearing, { 'messaging-history.set': history }) => history && hearHistory(hearing, history),
  (hearing, { 'lid-mapping.update': mapping }) => mapping && hearLidNumber(hearing, mapping),
  (hearing, { 'contacts.upsert': contacts }) => contacts && hearContacts(hearing, contacts),
  (hearing, { 'contacts.update': contacts }) => contacts && hearContacts(hearing, contacts),
  (hearing, { 'groups.upsert': groups }) => groups && hearGroups(hearing, groups),
  (hearing, { 'groups.update': groups }) => groups && hearGroups(hearing, groups),
  (hearing, { 'chats.upsert': chats }) => chats && hearChats(hearing, chats),
  (hearing, { 'messages.upsert': upsert }) => upsert && hearMessages(hearing, upsert),
  (hearing, { 'messages.update': updates }) => updates && hearUpdates(hearing, updates),
  (hearing, { 'message-receipt.update': receipts }) => receipts && hearGroupReceipts(hearing, receipts),
  (hearing, { 'chats.update': chats }) => chats && hearChats(hearing, chats),
];

export class Inbound implements SessionListener {
  /** The last socket's ear of each channel: the next one waits for it. */
  private readonly ears = new Map<string, ChannelEar>();

  constructor(private readonly options: InboundOptions) {}

  attach(session: OpenSession): Attachment {
    const { channelId } = session;
    const { writer, eventsReady, now } = this.options;
    const ear = new ChannelEar(session, this.options, this.ears.get(channelId)?.drained());
    this.ears.set(channelId, ear);
    const hearing: Hearing = { session, ear, writer, eventsReady, now };
    session.socket.ev.process((heard) => {
      for (const step of STEPS) this.hear(hearing, step, heard);
    });
    return { drained: () => this.drained(channelId, ear) };
  }

  private hear(hearing: Hearing, step: Step, heard: Heard): void {
    hearing.ear.hear(async () => step(hearing, heard));
  }

  private async drained(channelId: string, ear: ChannelEar): Promise<void> {
    await ear.drained();
    if (this.ears.get(channelId) === ear) this.ears.delete(channelId);
  }
}
