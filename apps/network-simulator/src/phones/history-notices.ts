import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import type { PhoneEvent } from '../network/phone-event.js';
import type { PhoneContext } from './phone-context.js';

const S = proto.WebMessageInfo.StubType;

interface Stub {
  type: number;
  parameters: string[];
}
type StubOf = (event: PhoneEvent, details: Record<string, string>, own: string) => Stub;

const people = ({ participants }: Record<string, string>): string[] => participants?.split(',') ?? [];
const stub = (type: number, parameters: string[] = []): Stub => ({ type, parameters });

/** What each change of a group is in a history, by the tag of its notice. */
const STUBS: Record<string, StubOf> = {
  create: (_event, { type, reason, subject = '' }, own) => {
    if (type === 'new') return stub(S.GROUP_CREATE, [subject]);
    return stub(reason === 'invite' ? S.GROUP_PARTICIPANT_INVITE : S.GROUP_PARTICIPANT_ADD, [own]);
  },
  add: (_event, details) =>
    stub(details['reason'] === 'invite' ? S.GROUP_PARTICIPANT_INVITE : S.GROUP_PARTICIPANT_ADD, people(details)),
  remove: ({ from }, details) => {
    const gone = people(details);
    return stub(gone[0] === from ? S.GROUP_PARTICIPANT_LEAVE : S.GROUP_PARTICIPANT_REMOVE, gone);
  },
  promote: (_event, details) => stub(S.GROUP_PARTICIPANT_PROMOTE, people(details)),
  demote: (_event, details) => stub(S.GROUP_PARTICIPANT_DEMOTE, people(details)),
  subject: (_event, { subject = '' }) => stub(S.GROUP_CHANGE_SUBJECT, [subject]),
  description: (_event, { body = '' }) => stub(S.GROUP_CHANGE_DESCRIPTION, [body]),
  announcement: () => stub(S.GROUP_CHANGE_ANNOUNCE, ['on']),
  not_announcement: () => stub(S.GROUP_CHANGE_ANNOUNCE, ['off']),
  locked: () => stub(S.GROUP_CHANGE_RESTRICT, ['on']),
  unlocked: () => stub(S.GROUP_CHANGE_RESTRICT, ['off']),
  invite: (_event, { code = '' }) => stub(S.GROUP_CHANGE_INVITE_LINK, [code]),
};

/** What happened in groups, as histories carry it: messages without content, by group, the newest first. */
export function noticesByGroup(phone: PhoneContext): Map<string, proto.IWebMessageInfo[]> {
  const byGroup = new Map<string, proto.IWebMessageInfo[]>();
  for (const event of phone.events.all({ kind: 'group' }).reverse()) {
    const notice = noticeOf(phone, event);
    if (notice) byGroup.set(event.chat, [...(byGroup.get(event.chat) ?? []), notice]);
  }
  return byGroup;
}

function noticeOf({ account }: PhoneContext, event: PhoneEvent): proto.IWebMessageInfo | undefined {
  const { what, chat, from, at, id } = event;
  const made = STUBS[what]?.(event, event.details ?? {}, account.phoneJid);
  if (!made || id === undefined) return undefined;
  return {
    key: { remoteJid: chat, fromMe: from === account.phoneJid, id, participant: from },
    participant: from,
    messageTimestamp: Math.floor(Date.parse(at) / 1000),
    messageStubType: made.type,
    messageStubParameters: made.parameters,
  };
}
