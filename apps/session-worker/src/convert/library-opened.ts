/** What the network library does to a message before it emits it, as far as its effects must be known here. Pure. */
import type { proto } from '@whiskeysockets/baileys';

/** What Baileys 7.0.0-rc14 opens, in its order (`Utils/messages.js`, normalizeMessageContent); `socket/` has a spec of it. */
const OPENED = [
  'ephemeralMessage',
  'viewOnceMessage',
  'documentWithCaptionMessage',
  'viewOnceMessageV2',
  'viewOnceMessageV2Extension',
  'editedMessage',
  'associatedChildMessage',
  'groupStatusMessage',
  'groupStatusMessageV2',
] as const;
const OPENED_AT_MOST = 5;

/** The content that the library found; it looks into fewer wrappers than `opened-message.ts`. */
export function openedByLibrary(message: proto.IMessage | null | undefined): proto.IMessage | undefined {
  let content = message ?? undefined;
  for (let opened = 0; opened < OPENED_AT_MOST; opened += 1) {
    const wrapper = OPENED.find((name) => content?.[name]);
    if (!content || wrapper === undefined) break;
    content = content[wrapper]?.message ?? undefined;
  }
  return content;
}

/**
 * Did a web or desktop client write the message? Each kind of device makes ids in its own form, as Baileys 7.0.0-rc14 has
 * them (`Utils/messages.js`, getDevice).
 */
export function isWebClientId(keyId: string): boolean {
  if (/^3A.{18}$/.test(keyId)) return false;
  if (/^3E.{20}$/.test(keyId)) return true;
  if (/^(.{21}|.{32})$/.test(keyId)) return false;
  return /^(3F|.{18}$)/.test(keyId);
}
