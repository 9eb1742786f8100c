/**
 * The only call of makeWASocket. The sandbox is nothing but another address and another root key in here.
 */
import { endUnlessAnswered } from './answer-timeout.js';
import { patchedSignalRepository, requirePatches } from './patches/apply.js';
import { letCachesGrow } from './patches/growing-caches.js';
import { trustRootKey } from './patches/server-certificate.js';
import type { NetworkAuthState } from './key-format.js';
import type { InboundJournal } from './inbound-journal.js';
import type { SharedStateJournal } from './shared-state-journal.js';
import {
  DEFAULT_CONNECTION_CONFIG,
  makeWASocket,
  type GroupMetadata,
  proto,
  type UserFacingSocketConfig,
  type WABrowserDescription,
  type WAMessageKey,
  type WASocket,
  type WAVersion,
} from '@whiskeysockets/baileys';
import type { ProxyRoute } from '../proxy/proxy-route.js';
import { chatMomentIn, clearedChatIn, emitCleared, type ChatMoment } from './patches/shared-state-changes.js';
import { fileRequestsTo } from './library-fetches.js';
import type { EncryptionBarrier } from './patches/encryption-barrier.js';
import { libraryLog, type LibraryLogTarget } from './library-log.js';
import { withSharedAsyncStorage } from './patches/shared-async-storage.js';

/** Where the network is, if it is not the real one. */
export interface NetworkAddress {
  /** `wss://` or `ws://`; absent: the real network. */
  readonly socketUrl?: string;
  /** The key that must have signed the server's certificate (32 bytes); absent: the real network's. */
  readonly rootKey?: Buffer;
  /** Where it keeps files (`https://…`); absent: the real network's host. */
  readonly fileOrigin?: string;
  /** Timeout of a connection's first answer; default 20 s. */
  readonly answerWithinMs?: number;
  /** Interval between keep-alive queries; default `KEEP_ALIVE_MS`. */
  readonly keepAliveMs?: number;
}

export interface SocketOptions {
  readonly auth: NetworkAuthState;
  readonly network: NetworkAddress;
  /** The client version to report; undefined: the library's own version. */
  readonly version: WAVersion | undefined;
  readonly log: LibraryLogTarget;
  /** Request from a phone that links all of its history, not only for the newest part. */
  readonly fullHistory: boolean;
  /** The way through the channel's proxy; undefined: directly. */
  readonly route: ProxyRoute | undefined;
  /** Stores what is decrypted before it is acknowledged to the network. */
  readonly journal: Pick<InboundJournal, 'makeSignalRepository'>;
  /** Keeps what the library takes of the state that the phone shares until it is stored. */
  readonly sharedState: Pick<SharedStateJournal, 'keys'>;
  readonly encryptionBarrier: Pick<EncryptionBarrier, 'guard'>;
  /** Called before the library emits that the chat is gone. */
  readonly onChatMoment: (moment: ChatMoment) => void;
  /** The message sent under this key, for a recipient that could not decrypt it. */
  readonly getMessage: (key: WAMessageKey) => Promise<proto.IMessage | undefined>;
  /** The members to encrypt a group's message for; undefined: the network is queried at each send. */
  readonly groupMetadata: (groupId: string) => Promise<GroupMetadata | undefined>;
}

/** How many further copies of a message a device gets that cannot read it. */
export const COPIES_SENT = 5;
/** How many copies of a message that cannot be decrypted are requested. */
const COPIES_REQUESTED = 5;
/**
 * Baileys 7.0.0-rc14 counts each copy it sends twice (`messages-recv.js`, in `handleReceipt` and in `sendMessagesAgain`).
 */
const COUNTED_FOR_EACH_COPY = 2;

/**
 * Interval between keep-alive queries. Baileys takes the connection for dead at the first of them that comes more than
 * 5 s after the last frame received (socket.js of 7.0.0-rc14, startKeepAliveRequest): within 45 s.
 */
export const KEEP_ALIVE_MS = 20_000;

const ANSWER_WITHIN_MS = 20_000;

/** How the linked device is listed on the phone: "Google Chrome (Dormouse)". */
const LISTED_AS: Readonly<WABrowserDescription> = ['Dormouse', 'Chrome', '1.0.0'];
/** In the request for a code by phone number the network takes systems that it knows alone. */
const KNOWN_SYSTEM = 'Windows';

/** Opens a socket and begins to connect. Listeners that are added before the next turn miss nothing. */
export function openSocket(options: SocketOptions): WASocket {
  const { auth, network, version, log, fullHistory, route, journal, encryptionBarrier, onChatMoment } = options;
  requirePatches();
  const waWebSocketUrl = network.socketUrl ?? String(DEFAULT_CONNECTION_CONFIG.waWebSocketUrl);
  if (network.rootKey) trustRootKey(network.rootKey);
  const onSharedChange = (facts: unknown): void => {
    const cleared = clearedChatIn(facts);
    if (cleared) emitCleared(socket.ev, cleared);
    const moment = chatMomentIn(facts);
    if (moment) onChatMoment(moment);
  };
  const browser: WABrowserDescription = [...LISTED_AS];
  const config: UserFacingSocketConfig = {
    auth: { creds: auth.creds, keys: options.sharedState.keys },
    ...(version ? { version } : {}),
    waWebSocketUrl,
    ...(route && { agent: route.socketAgent(waWebSocketUrl), fetchAgent: route.uploads }),
    logger: libraryLog(log, onSharedChange),
    makeSignalRepository: patchedSignalRepository({ store: auth.keys, journal, barrier: encryptionBarrier }),
    browser,
    connectTimeoutMs: 0, // see answer-timeout.ts
    keepAliveIntervalMs: network.keepAliveMs ?? KEEP_ALIVE_MS,
    // A linked device that appears online silences the owner's phone.
    markOnlineOnConnect: false,
    // History is received in any case: its chats, names and LID mappings, and the first app-state sync hangs on it.
    syncFullHistory: fullHistory,
    shouldSyncHistoryMessage: ({ syncType }) => fullHistory || syncType !== proto.Message.HistorySyncType.FULL,
    generateHighQualityLinkPreview: false,
    options: fileRequestsTo({ origin: network.fileOrigin, route: route?.files }),
    // The key store repeats writes by itself, as long as they make sense.
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
    maxMsgRetryCount: COPIES_SENT * COUNTED_FOR_EACH_COPY,
    getMessage: options.getMessage,
    cachedGroupMetadata: options.groupMetadata,
  };
  const socket = withSharedAsyncStorage(() => makeWASocket(config));
  endUnlessAnswered(socket, network.answerWithinMs ?? ANSWER_WITHIN_MS);
  const { messageRetryManager: retries, requestPairingCode } = socket;
  socket.requestPairingCode = (...given) => {
    browser[0] = KNOWN_SYSTEM; // the device has registered by then, and stays listed under its own name
    return requestPairingCode(...given);
  };
  if (!retries) throw new Error('the library does not count the copies it requests');
  // The same setting bounds the copies that are requested, where each is counted once.
  Reflect.set(retries, 'maxMsgRetryCount', COPIES_REQUESTED);
  letCachesGrow(retries);
  return socket;
}
