/** Makes the sockets of channels, with everything that belongs to one of them. */
import type { Fence } from '@dormouse/database';
import type { DialOptions } from '../proxy/dial.js';
import { ProxyRoute } from '../proxy/proxy-route.js';
import type { ClientVersion } from './client-version.js';
import { InboundJournal } from './inbound-journal.js';
import type { NetworkAuthState } from './key-format.js';
import type { LibraryLogTarget } from './library-log.js';
import { LiveSession, type LiveEvents } from './live-session.js';
import type { GroupLookup, MessageAck, RetryMessageLookup, SessionListener } from './open-session.js';
import { openSocket, type NetworkAddress } from './open-socket.js';
import { EncryptionBarrier } from './patches/encryption-barrier.js';
import { ChatMoments } from './patches/shared-state-changes.js';
import { SharedStateJournal } from './shared-state-journal.js';

export interface SocketFactoryOptions {
  readonly network: NetworkAddress;
  /** Which addresses channels' proxies may be at; absent: public ones only. */
  readonly proxies?: DialOptions;
  /** Absent: the library's own version, whatever the network reports. */
  readonly version?: Pick<ClientVersion, 'current' | 'outdated'>;
  /** Each is attached to every new socket, in this order. */
  readonly listeners: readonly SessionListener[];
  readonly recall: RetryMessageLookup;
  readonly groups: GroupLookup;
  /** How long a send waits for the network's ack. */
  readonly ackWaitMs: number;
  readonly log: LibraryLogTarget;
  readonly onAck?: (ack: MessageAck) => void;
}

/** What of a channel's settings concerns a connect. */
export interface ConnectSettings {
  /** Whether a phone that links is requested to send all of its history. */
  readonly fullHistory: boolean;
  /** The setting `proxy`; '' for none. */
  readonly proxy: string;
}

export interface SocketRequest extends ConnectSettings {
  readonly channelId: string;
  /** The ownership under which everything received is written. */
  readonly fence: Fence;
  readonly generation: number;
  readonly auth: NetworkAuthState;
  readonly events: LiveEvents;
  readonly onFault: (error: unknown) => void;
}

export class SocketFactory {
  constructor(private readonly options: SocketFactoryOptions) {}

  /** Opens a socket for a channel and begins to connect. */
  open({ channelId, fence, generation, auth, fullHistory, proxy, events, onFault }: SocketRequest): LiveSession {
    const { network, log, recall, groups, listeners, ackWaitMs, onAck } = this.options;
    const journal = new InboundJournal(auth);
    const sharedState = new SharedStateJournal(auth);
    const moments = new ChatMoments();
    const encryptionBarrier = new EncryptionBarrier();
    const route = proxy === '' ? undefined : new ProxyRoute(proxy, this.options.proxies ?? { allowLoopback: false });
    const socket = openSocket({
      auth,
      network,
      version: this.options.version?.current,
      log,
      fullHistory,
      route,
      journal,
      sharedState,
      encryptionBarrier,
      onChatMoment: (moment) => moments.note(moment),
      getMessage: (key) => recall(live, key),
      groupMetadata: (groupId) => groups.addressed(live, groupId),
    });
    const live = new LiveSession({
      channelId,
      fence,
      generation,
      auth,
      journal,
      sharedState,
      moments,
      encryptionBarrier,
      socket,
      fileRoute: route?.files,
      listeners,
      ackWaitMs,
      groups,
      events: this.watchingVersion(events),
      onAck: (ack) => onAck?.(ack),
      onFault,
    });
    return live;
  }

  /** Looks up the newest version of the client when the network refuses the one that a socket reported. */
  private watchingVersion(events: LiveEvents): LiveEvents {
    const { version } = this.options;
    if (!version) return events;
    return {
      ...events,
      closed: (live, reason) => {
        if (reason.name === 'client_outdated') void version.outdated();
        events.closed(live, reason);
      },
    };
  }
}
