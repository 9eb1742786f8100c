import { z } from 'zod';
import type { LoginCode, Success } from './channel.js';
import { exportPageInput, type ExportPage } from './channel-export.js';
import { chatInput, patchChatInput } from './chat-actions.js';
import { checkContactsBody, contactInput, type CheckContactsResult } from './contacts.js';
import {
  createGroupBody,
  groupInfoInput,
  groupInput,
  groupSettingInput,
  joinGroupInput,
  participantsInput,
  type Group,
  type GroupCreateResult,
  type GroupInvite,
  type GroupInviteRevoked,
  type JoinGroupResult,
  type ParticipantsResult,
} from './groups.js';
import {
  editMessageInput,
  forwardMessageInput,
  messageInput,
  reactionInput,
  type EditResult,
} from './message-actions.js';
import { mediaIdField } from './media.js';
import {
  sendAudioInput,
  sendDocumentInput,
  sendImageInput,
  sendStickerInput,
  sendVideoInput,
  sendVoiceInput,
} from './media-messages.js';
import { sendTextBody, type Message, type SentMessage } from './messages.js';
import {
  sendContactBody,
  sendGroupInviteInput,
  sendLinkPreviewInput,
  sendLocationBody,
  sendPollBody,
} from './plain-messages.js';
import { sendPresenceInput, setOwnPresenceBody } from './presences.js';
import { updateProfileInput, type UserProfile } from './profile.js';
import { indicatorsLastMs } from './send-options.js';

/** One command that the edge can send to a channel's worker. */
export interface CommandSpec<Input extends z.ZodType, Result> {
  readonly input: Input;
  /**
   * Raised when the input gets something that a worker which ignores it must not leave out (docs/versions.md). A worker refuses a
   * later one with 503 and runs every earlier one.
   */
  readonly revision: number;
  /** Does the handler need the open socket, or only the session's machine? */
  readonly session: 'open' | 'none';
  /** A worker starts the command within this time of the call, or never. */
  readonly startWithinMs: number;
  /** Timeout of the caller, from its call; always longer than `startWithinMs`. */
  readonly answerWithinMs: number;
  /** Time that the input itself adds (a typing indicator), in milliseconds: added to `answerWithinMs`. */
  readonly lasts: (input: z.output<Input>) => number;
  /** Never set: carries the type of the result. */
  readonly result?: Result;
}

interface CommandOptions<Input extends z.ZodType> {
  input: Input;
  revision?: number;
  session?: 'open' | 'none';
  startWithinMs?: number;
  answerWithinMs?: number;
  lasts?: (input: z.output<Input>) => number;
}

const command =
  <Result>() =>
  <Input extends z.ZodType>(options: CommandOptions<Input>): CommandSpec<Input, Result> => ({
    revision: 1,
    session: 'open',
    startWithinMs: 20_000,
    answerWithinMs: 45_000,
    lasts: () => 0,
    ...options,
  });

/** Digits with country code. */
const phoneCodeInput = z.object({ phone: z.string().regex(/^[1-9]\d{6,14}$/, 'must be digits with country code') });
const nothing = z.object({});

/** Timeout where a file may have to be downloaded, converted and uploaded to the network. */
const WITH_FILES_MS = 120_000;
const withFiles = { answerWithinMs: WITH_FILES_MS, lasts: indicatorsLastMs };
/** Timeout of one query to the network. */
const QUERY_MS = 30_000;
/** Timeout of the queries that a full list of numbers needs. */
const MANY_QUERIES_MS = 60_000;

/** Every command, by name. A name without a handler does not compile in the session worker. */
export const COMMANDS = {
  'messages.sendText': command<SentMessage>()({
    input: sendTextBody,
    lasts: indicatorsLastMs,
  }),
  'messages.sendLocation': command<SentMessage>()({ input: sendLocationBody, lasts: indicatorsLastMs }),
  'messages.sendContact': command<SentMessage>()({ input: sendContactBody, lasts: indicatorsLastMs }),
  'messages.sendPoll': command<SentMessage>()({ input: sendPollBody, lasts: indicatorsLastMs }),
  'messages.sendLinkPreview': command<SentMessage>()({
    input: sendLinkPreviewInput,
    answerWithinMs: WITH_FILES_MS,
    lasts: indicatorsLastMs,
  }),
  'messages.sendImage': command<SentMessage>()({ input: sendImageInput, ...withFiles }),
  'messages.sendVideo': command<SentMessage>()({ input: sendVideoInput, ...withFiles }),
  'messages.sendAudio': command<SentMessage>()({ input: sendAudioInput, ...withFiles }),
  'messages.sendVoice': command<SentMessage>()({ input: sendVoiceInput, ...withFiles }),
  'messages.sendDocument': command<SentMessage>()({ input: sendDocumentInput, ...withFiles }),
  'messages.sendSticker': command<SentMessage>()({ input: sendStickerInput, ...withFiles }),
  /** Downloads the file of a received message into the media store. */
  'media.fetch': command<Success>()({ input: z.object({ mediaId: mediaIdField }), answerWithinMs: WITH_FILES_MS }),
  'messages.forward': command<SentMessage>()({ input: forwardMessageInput, answerWithinMs: WITH_FILES_MS }),
  'messages.markRead': command<Success>()({ input: messageInput }),
  'messages.edit': command<EditResult>()({ input: editMessageInput }),
  /** For everyone where the network allows it, else on the channel's own devices. */
  'messages.delete': command<Success>()({ input: messageInput }),
  'messages.react': command<Success>()({ input: reactionInput }),
  'messages.refresh': command<Message>()({ input: messageInput, answerWithinMs: QUERY_MS }),
  'groups.create': command<GroupCreateResult>()({ input: createGroupBody }),
  'groups.refresh': command<Group>()({ input: groupInput, answerWithinMs: QUERY_MS }),
  'groups.updateInfo': command<Success>()({ input: groupInfoInput }),
  'groups.updateSetting': command<Success>()({ input: groupSettingInput }),
  'groups.leave': command<Success>()({ input: groupInput }),
  'groups.addParticipants': command<ParticipantsResult>()({ input: participantsInput }),
  'groups.removeParticipants': command<ParticipantsResult>()({ input: participantsInput }),
  'groups.promote': command<Success>()({ input: participantsInput }),
  'groups.demote': command<Success>()({ input: participantsInput }),
  'groups.join': command<JoinGroupResult>()({ input: joinGroupInput }),
  'groups.sendInvite': command<SentMessage>()({ input: sendGroupInviteInput, answerWithinMs: WITH_FILES_MS }),
  'groups.invite': command<GroupInvite>()({ input: groupInput, answerWithinMs: QUERY_MS }),
  'groups.revokeInvite': command<GroupInviteRevoked>()({ input: groupInput }),
  'chats.markRead': command<Success>()({ input: chatInput }),
  'chats.update': command<Success>()({ input: patchChatInput }),
  'chats.delete': command<Success>()({ input: chatInput }),
  'contacts.check': command<CheckContactsResult>()({ input: checkContactsBody, answerWithinMs: MANY_QUERIES_MS }),
  'contacts.profile': command<UserProfile>()({ input: contactInput, answerWithinMs: QUERY_MS }),
  'profile.get': command<UserProfile>()({ input: nothing, answerWithinMs: QUERY_MS }),
  'profile.update': command<Success>()({ input: updateProfileInput, answerWithinMs: WITH_FILES_MS }),
  'presences.setOwn': command<Success>()({ input: setOwnPresenceBody }),
  'presences.send': command<Success>()({ input: sendPresenceInput }),
  'channel.loginCode': command<LoginCode>()({ input: nothing, session: 'none' }),
  /** A code of eight letters that is entered on the phone of this number, instead of one to scan. */
  'channel.phoneCode': command<LoginCode>()({ input: phoneCodeInput, session: 'none' }),
  'channel.logout': command<Success>()({ input: nothing, session: 'none' }),
  /** The channel is gone: unlink it from the phone and forget its session. */
  'channel.delete': command<Success>()({ input: nothing, session: 'none' }),
  /** Hibernate the session now, however long it has been idle; it stays awake while a command is running. */
  'channel.sleep': command<{ asleep: boolean }>()({ input: nothing, session: 'none' }),
  /** A page of what is stored of the channel. */
  'channel.exportPage': command<ExportPage>()({ input: exportPageInput, session: 'none' }),
  /** Wake the session; it hibernates again according to its policy. */
  'channel.wake': command<Success>()({ input: nothing }),
} as const;

export type CommandName = keyof typeof COMMANDS;
export type CommandInput<Name extends CommandName> = z.output<(typeof COMMANDS)[Name]['input']>;
export type CommandResult<Name extends CommandName> = NonNullable<(typeof COMMANDS)[Name]['result']>;

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}
