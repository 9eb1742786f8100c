import { z } from 'zod';
import { GatewayError } from './errors.js';
import { hasUnstorable } from './unstorable.js';

/** Pattern of every message id customers see. */
export const MESSAGE_ID_PATTERN =
  /^[A-Za-z0-9._]{4,30}-[A-Za-z0-9._]{4,14}(-[A-Za-z0-9._]{4,10})?(-[A-Za-z0-9._]{2,10})?$/;

export const INDIVIDUAL_SUFFIX = 's.whatsapp.net';
export const GROUP_SUFFIX = 'g.us';
export const LID_SUFFIX = 'lid';

/** Where a message goes: a person by phone digits, a group, or a person known only by LID. */
export type Recipient =
  { kind: 'individual'; digits: string } | { kind: 'group'; group: string } | { kind: 'lid'; digits: string };

const INDIVIDUAL = /^(\d{7,15})(?:@s\.whatsapp\.net)?$/;
const GROUP = /^(\d{10,25}(?:-\d{8,12})?)@g\.us$/;
const LID = /^(\d{7,20})@lid$/;

/** Reads a recipient or chat id in any accepted form; undefined when it is none of them. */
export function readRecipient(text: string): Recipient | undefined {
  const individual = INDIVIDUAL.exec(text);
  if (individual?.[1]) return { kind: 'individual', digits: individual[1] };
  const group = GROUP.exec(text);
  if (group?.[1]) return { kind: 'group', group: group[1] };
  const lid = LID.exec(text);
  if (lid?.[1]) return { kind: 'lid', digits: lid[1] };
  return undefined;
}

/** The chat id customers see for a recipient: `<digits>@s.whatsapp.net`, `<group>@g.us` or `<digits>@lid`. */
export function chatIdOf(recipient: Recipient): string {
  switch (recipient.kind) {
    case 'individual':
      return `${recipient.digits}@${INDIVIDUAL_SUFFIX}`;
    case 'group':
      return `${recipient.group}@${GROUP_SUFFIX}`;
    case 'lid':
      return `${recipient.digits}@${LID_SUFFIX}`;
  }
}

/** The form a chat id has in the store, for an id taken from a path; undefined when it cannot name a chat. */
export function normalizeChatId(text: string): string | undefined {
  const recipient = readRecipient(text);
  return recipient && chatIdOf(recipient);
}

/** A recipient as customers write it; the parsed value is the text, unchanged. */
export const recipientSchema = z
  .string()
  .refine((text) => readRecipient(text) !== undefined, 'digits without +, <digits>@s.whatsapp.net or <group>@g.us');

/**
 * Accepts an id from a path in any form, unless it has characters that no id can have.
 * @param name of the parameter, e.g. `MessageID`
 * @throws {GatewayError} 404 naming the parameter
 */
export function requireLookable(name: string, id: string): string {
  if (!hasUnstorable(id)) return id;
  throw new GatewayError(404, { details: `${name}: no id has control characters` });
}
