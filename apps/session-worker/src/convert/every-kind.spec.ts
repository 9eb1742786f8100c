/** Every kind of message that the installed library knows, in the places where clients put one. */
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import { actionFromNetwork } from './change-from-network.js';
import { messageFromNetwork } from './message-from-network.js';
import { PARTS, SIGNALS, WRAPPERS, type Part } from './message-parts.js';
import { sealedFromNetwork } from './sealed-from-network.js';
import { ADA, ADA_LID, GROUP, received, people } from './test-messages.js';

const TEXT = `ask @${ADA_LID} about it`;
/** Fields that are passed on as they are; see `names-in-text.ts`. */
const VERBATIM = new Set(['id', 'url', 'link', 'merchant_url', 'values']);
const KINDS = PARTS.filter((part) => !WRAPPERS.has(part) && part !== 'deviceSentMessage');
const LID_AS_NUMBER = new RegExp(`(^|\\D)${ADA_LID}(?!@lid)`);
const { MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;

/** A message of this kind, with a text in each of its own fields that holds one. */
function sampleOf(part: Part): proto.IMessage {
  if (part === 'conversation') return { conversation: TEXT };
  const empty: unknown = Reflect.get(proto.Message.fromObject({ [part]: {} }), part);
  const fields = Object.entries(Object.getPrototypeOf(empty) as object).filter(([, value]) => value === '');
  return { [part]: Object.fromEntries(fields.map(([name]) => [name, TEXT])) };
}

const wrapped = (content: proto.IMessage, wrappers: readonly string[]): proto.IMessage =>
  wrappers.reduceRight<proto.IMessage>((inner, name) => ({ [name]: { message: inner } }), content);

const key = (inGroup: boolean): Partial<WAMessage['key']> =>
  inGroup ? { remoteJid: GROUP, remoteJidAlt: undefined, participant: `${ADA_LID}@lid` } : {};

function read(content: proto.IMessage, inGroup: boolean) {
  const message = received(content, key(inGroup));
  const action = actionFromNetwork(message, people) ?? sealedFromNetwork(message, people)?.read(undefined)?.action;
  return action?.trigger.message ?? messageFromNetwork(message, people)?.message;
}

/** Every text that a customer reads. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, entry]) => (VERBATIM.has(name) ? [] : textsOf(entry)));
}

function expectNoLid(shown: unknown): void {
  expect(textsOf(shown).filter((text) => LID_AS_NUMBER.test(text))).toEqual([]);
}

/** Without wrappers, in each one, and in two of them, in chats of two and in groups by turns. */
const names = [...WRAPPERS];
const PLACES = [[], ...names.map((name) => [name]), ...names.map((name, at) => [name, names.at(at - 3) ?? name])].map(
  (wrappers, at) => ({ wrappers, inGroup: at % 2 === 1 }),
);

describe('every kind of message', () => {
  it.each(KINDS.map((part) => [part]))('is reported, at least by its name, wherever it stands: %s', (part) => {
    for (const { wrappers, inGroup } of PLACES) {
      const shown = read(wrapped(sampleOf(part), wrappers), inGroup);
      if (!SIGNALS.has(part)) expect(shown).toMatchObject({ from: ADA });
      if (shown?.type === 'unknown') expect(shown['subtype']).toBe(part);
      expectNoLid(shown);
    }
  });

  it.each(KINDS.map((part) => [part]))('is shown where it is quoted: %s', (part) => {
    for (const { wrappers, inGroup } of PLACES) {
      const quotedMessage = wrapped(sampleOf(part), wrappers);
      const contextInfo = { stanzaId: 'A5C3000000000001', participant: `${ADA_LID}@lid`, quotedMessage };
      const shown = read({ extendedTextMessage: { text: TEXT, contextInfo } }, inGroup);
      expect(shown).toMatchObject({ text: { body: `ask @${ADA} about it` }, context: { quoted_author: ADA } });
      expect(shown?.context?.quoted_type !== undefined).toBe(!SIGNALS.has(part));
      expectNoLid(shown);
    }
  });

  it.each(KINDS.map((part) => [part]))('is an edit where it takes the place of another: %s', (part) => {
    for (const { wrappers, inGroup } of PLACES) {
      const editedMessage = wrapped(sampleOf(part), wrappers);
      const target = { id: 'A5C3000000000001', fromMe: true };
      const shown = read({ protocolMessage: { type: MESSAGE_EDIT, key: target, editedMessage } }, inGroup);
      if (!SIGNALS.has(part)) expect(shown).toMatchObject({ type: 'action', action: { type: 'edit' } });
      expectNoLid(shown);
    }
  });
});
