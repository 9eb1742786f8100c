/** What the network brings to one session, in the names of this product. */
import type {
  BaileysEventMap,
  BinaryNode,
  ChatUpdate,
  Contact,
  GroupMetadata,
  LIDMapping,
  WAMessage,
  WAMessageUpdate,
  WASocket,
} from '@whiskeysockets/baileys';
import { getBinaryNodeChild } from '@whiskeysockets/baileys';

/** A message as the network brings it, decrypted; or a notice of a group in its place. */
export type NetworkMessage = WAMessage;
/** What changed of a chat. */
export type ChatChange = ChatUpdate;
/** What changed of a message: the status of an own one, above all. */
export type MessageUpdate = WAMessageUpdate;
/** Somebody's name, picture or addresses. */
export type ContactChange = Partial<Contact>;
/** A group as the network describes it in full. */
export type GroupDescription = GroupMetadata;
/** A LID and the number of the same person. */
export type LidNumber = LIDMapping;

export interface ConnectionChange {
  /** Absent when only something else changed. */
  readonly state?: 'connecting' | 'open' | 'closed';
  /** The device was just linked. */
  readonly isNewLogin?: boolean;
  /** All that waited at the network has been delivered. */
  readonly isCaughtUp?: boolean;
  /** The device was made to appear online, or offline. */
  readonly isOnline?: boolean;
}

/** Events that the library gathers: those that come together are given together. */
export interface NetworkEvents {
  connection: ConnectionChange;
  /** What the phone knew before the link. */
  history: BaileysEventMap['messaging-history.set'];
  lidNumber: LidNumber;
  contactsAdded: ContactChange[];
  contactsChanged: ContactChange[];
  /** Groups that were made, or that the channel was taken into. */
  groupsAdded: GroupDescription[];
  groupMembers: BaileysEventMap['group-participants.update'];
  joinRequest: BaileysEventMap['group.join-request'];
  chatsAdded: ChatChange[];
  chatsChanged: ChatChange[];
  /** Addresses of chats that were deleted on the phone. */
  chatsDeleted: string[];
  messages: { readonly messages: NetworkMessage[] };
  messagesChanged: MessageUpdate[];
  messagesDeleted: BaileysEventMap['messages.delete'];
  /** Receipts of groups: one for each member. */
  groupReceipts: BaileysEventMap['message-receipt.update'];
  calls: BaileysEventMap['call'];
  presence: BaileysEventMap['presence.update'];
}

export type GatheredEvents = Partial<NetworkEvents>;

/** The network's acknowledgement of a message. */
export interface AckNotice {
  readonly id: string;
  /** The network's refusal code; absent when the message was accepted. */
  readonly error?: string;
  /** Epoch seconds. */
  readonly timestampS?: number;
}

/** A device could not decrypt a message of ours and requests another copy. */
export interface RetryRequest {
  readonly id: string;
  /** The chat's address, and the device's. */
  readonly chatJid: string;
  readonly deviceJid: string;
  /** The number of this request among those of this device for this message, from 1. */
  readonly count: number;
}

/** All listeners are called synchronously and must not throw. */
export interface NetworkEventSource {
  onGathered(listener: (events: GatheredEvents) => void): void;
  /** Before the same is given to {@link onGathered}. */
  onConnection(listener: (change: ConnectionChange) => void): void;
  onAck(listener: (ack: AckNotice) => void): void;
  onRetryRequest(listener: (request: RetryRequest) => void): void;
  /** Groups changed while nobody listened. */
  onGroupsOutdated(listener: () => void): void;
  /** Gives what is gathered to the listeners now. */
  flush(): void;
}

type Translation = {
  [Name in keyof BaileysEventMap]?: (event: BaileysEventMap[Name], into: GatheredEvents) => void;
};

const TRANSLATION: Translation = {
  'connection.update': (event, into) => void (into.connection = connectionChange(event)),
  'messaging-history.set': (event, into) => void (into.history = event),
  'lid-mapping.update': (event, into) => void (into.lidNumber = event),
  'contacts.upsert': (event, into) => void (into.contactsAdded = event),
  'contacts.update': (event, into) => void (into.contactsChanged = event),
  'groups.upsert': (event, into) => void (into.groupsAdded = event),
  'group-participants.update': (event, into) => void (into.groupMembers = event),
  'group.join-request': (event, into) => void (into.joinRequest = event),
  'chats.upsert': (event, into) => void (into.chatsAdded = event),
  'chats.update': (event, into) => void (into.chatsChanged = event),
  'chats.delete': (event, into) => void (into.chatsDeleted = event),
  'messages.upsert': (event, into) => void (into.messages = event),
  'messages.update': (event, into) => void (into.messagesChanged = event),
  'messages.delete': (event, into) => void (into.messagesDeleted = event),
  'message-receipt.update': (event, into) => void (into.groupReceipts = event),
  call: (event, into) => void (into.calls = event),
  'presence.update': (event, into) => void (into.presence = event),
};

function translate<Name extends keyof BaileysEventMap>(
  name: Name,
  event: BaileysEventMap[Name] | undefined,
  into: GatheredEvents,
): void {
  if (event !== undefined) TRANSLATION[name]?.(event, into);
}

function connectionChange(update: BaileysEventMap['connection.update']): ConnectionChange {
  const { connection, isNewLogin, receivedPendingNotifications, isOnline } = update;
  return {
    ...(connection !== undefined && { state: connection === 'close' ? 'closed' : connection }),
    ...(isNewLogin !== undefined && { isNewLogin }),
    ...(receivedPendingNotifications !== undefined && { isCaughtUp: receivedPendingNotifications }),
    ...(isOnline !== undefined && { isOnline }),
  };
}

/** The events of one of the library's sockets. */
export function eventsOf(socket: Pick<WASocket, 'ev' | 'ws'>): NetworkEventSource {
  return {
    onGathered: (listener) => {
      socket.ev.process((events) => {
        const gathered: GatheredEvents = {};
        for (const name of Object.keys(events) as (keyof BaileysEventMap)[]) translate(name, events[name], gathered);
        listener(gathered);
      });
    },
    onConnection: (listener) => {
      socket.ev.on('connection.update', (update) => listener(connectionChange(update)));
    },
    onAck: (listener) => {
      socket.ws.on('CB:ack,class:message', ({ attrs: { id, t, error } }: BinaryNode) => {
        if (id === undefined) return;
        const timestampS = Number(t);
        listener({ id, ...(error !== undefined && { error }), ...(timestampS > 0 && { timestampS }) });
      });
    },
    onRetryRequest: (listener) => {
      socket.ws.on('CB:receipt,type:retry', (receipt: BinaryNode) => {
        const { id, from: chatJid, participant: deviceJid = chatJid } = receipt.attrs;
        if (id === undefined || chatJid === undefined || deviceJid === undefined) return;
        const count = Number(getBinaryNodeChild(receipt, 'retry')?.attrs['count']) || 1;
        listener({ id, chatJid, deviceJid, count });
      });
    },
    onGroupsOutdated: (listener) => {
      socket.ws.on('CB:ib,,dirty', (node: BinaryNode) => {
        if (getBinaryNodeChild(node, 'dirty')?.attrs['type'] === 'groups') listener();
      });
    },
    flush: () => void socket.ev.flush(),
  };
}
