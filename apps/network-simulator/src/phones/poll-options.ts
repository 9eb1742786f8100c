import type { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { unwrap } from './content.js';

/** The poll in a message, whichever form it has. */
export function pollIn(content: proto.IMessage): proto.Message.IPollCreationMessage | undefined {
  const inner = unwrap(content);
  return (
    inner.pollCreationMessage ??
    inner.pollCreationMessageV2 ??
    inner.pollCreationMessageV3 ??
    inner.pollCreationMessageV5 ??
    undefined
  );
}

/** The options of a poll message; empty for anything else. */
export function pollOptions(content: proto.IMessage): string[] {
  return (pollIn(content)?.options ?? []).map(({ optionName }) => optionName ?? '');
}

/** How many options of a poll message one may choose; 0: any number. */
export function selectableOptions(content: proto.IMessage): number {
  return pollIn(content)?.selectableOptionsCount ?? 0;
}
