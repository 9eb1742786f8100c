/**
 * What a channel does by itself when it receives a message, by its settings: read it, appear online, typing or recording. The
 * settings at the moment of receiving count. A failure is ignored: nothing else depends on it.
 */
import type { ChannelDirectory } from '@dormouse/channel-directory';
import type { ChannelSettings } from '@dormouse/gateway-contract';
import { toNumber } from '../convert/present.js';
import type { NetworkMessage } from '../socket/network-events.js';
import type { OpenSession } from '../socket/open-session.js';
import type { InboundContext } from './inbound-context.js';

export interface AutoBehavioursOptions {
  readonly directory: Pick<ChannelDirectory, 'byId'>;
  readonly wait: (ms: number) => Promise<void>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** An indicator, or being online, ends after this if nothing else ends it. */
const SHOWN_FOR_MS = 5_000;
/** Age of a message after which no typing is shown. */
const FRESH_FOR_MS = 60_000;

export class AutoBehaviours {
  /** Sessions that a request or this setting made appear online. */
  private readonly online = new WeakMap<OpenSession, 'requested' | 'ours'>();

  constructor(private readonly options: AutoBehavioursOptions) {}

  /** Follows whether the session was made to appear online, so that it is not taken back. */
  attach(session: OpenSession): void {
    session.network.events.onConnection(({ isOnline }) => {
      if (isOnline === undefined) return;
      if (isOnline) this.online.set(session, 'requested');
      else this.online.delete(session);
    });
  }

  /** Messages that are stored now. Does not wait for what it does. */
  async received(inbound: InboundContext, messages: readonly NetworkMessage[]): Promise<void> {
    const received = messages.filter(isWrittenByOthers);
    if (received.length === 0) return;
    const { session } = inbound;
    const settings = (await inbound.queue.store(() => this.options.directory.byId(session.channelId)))?.settings;
    if (!settings) return;
    if (settings.auto_read) this.ignoreFailure(this.read(inbound, received));
    const freshSinceMs = this.options.now() - FRESH_FOR_MS;
    const fresh = received.filter((message) => (toNumber(message.messageTimestamp) ?? 0) * 1_000 >= freshSinceMs);
    const chats = new Set(fresh.flatMap(({ key: { remoteJid } }) => remoteJid ?? []));
    for (const chat of chats) this.ignoreFailure(this.show(session, chat, settings));
  }

  private async read(inbound: InboundContext, messages: readonly NetworkMessage[]): Promise<void> {
    const { session, queue, writer } = inbound;
    const keys = messages.map(({ key }) => key);
    await session.network.messages.markRead(keys);
    const ids = keys.flatMap(({ id }) => id ?? []);
    queue.enqueue(() => queue.store(() => writer.recordRead(session.fence, session.channelId, ids)));
  }

  private async show(
    session: OpenSession,
    chat: string,
    { auto_presence: presence, offline_mode: offline }: ChannelSettings,
  ): Promise<void> {
    if (presence === 'typing' || presence === 'recording') {
      await session.network.profile.showInChat(chat, presence);
      await this.options.wait(SHOWN_FOR_MS);
      await session.network.profile.showInChat(chat, 'pause');
    }
    // Being online keeps the owner's phone silent, which offline mode is there to avoid.
    if (presence === 'online' && !offline && !this.online.has(session)) await this.appear(session);
  }

  private async appear(session: OpenSession): Promise<void> {
    await session.network.profile.setOnline(true);
    this.online.set(session, 'ours');
    await this.options.wait(SHOWN_FOR_MS);
    if (this.online.get(session) === 'ours') await session.network.profile.setOnline(false);
  }

  /** The connection may go at any moment, and what it showed with it. */
  private ignoreFailure(work: Promise<void>): void {
    work.catch(() => undefined);
  }
}

/** Not own ones, not the network's notices, not what the library could not read yet. */
function isWrittenByOthers({ key, message, messageStubType }: NetworkMessage): boolean {
  if (key.fromMe === true || !key.id || !message || messageStubType) return false;
  return !message.protocolMessage && key.remoteJid !== 'status@broadcast';
}
