/**
 * A chat that was cleared on the phone. The library has an event for it (`messages.delete` with `all`) and does not emit
 * it: the change is found among those of the shared state.
 */
import type { BaileysEventEmitter, BaileysEventMap, ChatMutation } from '@whiskeysockets/baileys';

/** The library's event, with the moment up to which the chat was cleared (epoch seconds). */
export type ClearedChat = Extract<BaileysEventMap['messages.delete'], { all: true }> & { untilS?: number };

interface SharedChange {
  syncAction: ChatMutation;
  /** Part of a new device's first state; what was cleared before it came is not in its history. */
  initialSync: boolean;
}

function isSharedChange(facts: unknown): facts is SharedChange {
  return typeof facts === 'object' && facts !== null && 'syncAction' in facts && 'initialSync' in facts;
}

/**
 * @param facts of a change, as the library hands it to its log
 * @returns undefined for any other change
 */
export function clearedChatIn(facts: unknown): ClearedChat | undefined {
  if (!isSharedChange(facts) || facts.initialSync) return undefined;
  const { syncAction: action, index } = facts.syncAction;
  const [type, jid] = index;
  const cleared = action.value?.clearChatAction;
  if (type !== 'clearChat' || jid === undefined || !cleared) return undefined;
  const untilS = Number(cleared.messageRange?.lastMessageTimestamp ?? 0);
  return { jid, all: true, ...(untilS > 0 && { untilS }) };
}

/** A chat that was deleted or read on the phone: the library's own events (`chats.delete`, `chats.update`) omit up to when. */
export interface ChatMoment {
  readonly kind: 'deleted' | 'read';
  readonly jid: string;
  /** Epoch seconds: what came later stays (unread), also when the change comes late, or again. */
  readonly untilS: number;
}

/**
 * @param facts of a change, as the library hands it to its log
 * @returns undefined for any other change, and for one that does not state up to when
 */
export function chatMomentIn(facts: unknown): ChatMoment | undefined {
  if (!isSharedChange(facts)) return undefined;
  const { syncAction: action, index } = facts.syncAction;
  const [type, jid] = index;
  const { deleteChatAction: deleted, markChatAsReadAction: marked, timestamp } = action.value ?? {};
  const found =
    type === 'deleteChat' && deleted
      ? { kind: 'deleted' as const, range: deleted.messageRange }
      : type === 'markChatAsRead' && marked?.read
        ? { kind: 'read' as const, range: marked.messageRange }
        : undefined;
  if (!found || jid === undefined) return undefined;
  const lastS = Number(found.range?.lastMessageTimestamp ?? 0);
  const untilS = lastS > 0 ? lastS : Math.floor(Number(timestamp ?? 0) / 1_000);
  return untilS > 0 ? { kind: found.kind, jid, untilS } : undefined;
}

/** The moments that the library's changes named, for the events that follow them. */
export class ChatMoments {
  private readonly untilS = new Map<string, number>();

  note({ kind, jid, untilS }: ChatMoment): void {
    this.untilS.set(`${kind} ${jid}`, untilS);
  }

  /** @returns epoch seconds; undefined when no change named a moment for this chat */
  until(kind: ChatMoment['kind'], jid: string): number | undefined {
    return this.untilS.get(`${kind} ${jid}`);
  }
}

/**
 * Emits the event past the library's buffer, which would drop it; what was received before goes first. Code that is buffering
 * goes on: without that the library would hold the events that follow back for up to 30 s.
 */
export function emitCleared(
  ev: Pick<BaileysEventEmitter, 'emit'> & { isBuffering(): boolean; buffer(): void; flush(): boolean },
  cleared: ClearedChat,
): void {
  const buffering = ev.isBuffering();
  ev.flush();
  ev.emit('messages.delete', cleared);
  if (buffering) ev.buffer();
}
