/**
 * Which receipts of groups are of a voice note that was played. The library (7.0.0-rc14, messages-recv.js, handleReceipt)
 * emits them with a time of reading, as it does those of messages that were read, so the kind is taken from the wire.
 */
import {
  getBinaryNodeChildren,
  jidNormalizedUser,
  type BinaryNode,
  type WAMessageKey,
  type WASocket,
} from '@whiskeysockets/baileys';

/** After how many later ones a receipt is forgotten that the library makes no event of. */
const MOST_KEPT = 1_000;

export class PlayedReceipts {
  private readonly kept = new Set<string>();

  /** Notes receipts before the library's own listener emits its event of them. */
  watch({ ws }: Pick<WASocket, 'ws'>): void {
    ws.prependListener('CB:receipt', ({ attrs, content }: BinaryNode) => {
      const { id, type, participant } = attrs;
      if (type !== 'played' || id === undefined || participant === undefined) return;
      const [list] = Array.isArray(content) ? content : [];
      const others = list ? getBinaryNodeChildren(list, 'item').flatMap((item) => item.attrs['id'] ?? []) : [];
      for (const each of [id, ...others]) this.note(nameOf(each, participant));
    });
  }

  /** Is the receipt of this message by this person one of playing? Known until it is taken. */
  take({ id }: Pick<WAMessageKey, 'id'>, userJid: string | null | undefined): boolean {
    return this.kept.delete(nameOf(id ?? '', userJid ?? ''));
  }

  private note(name: string): void {
    this.kept.add(name);
    if (this.kept.size <= MOST_KEPT) return;
    for (const oldest of this.kept) return void this.kept.delete(oldest);
  }
}

function nameOf(messageId: string, userJid: string): string {
  return `${messageId} ${jidNormalizedUser(userJid)}`;
}
