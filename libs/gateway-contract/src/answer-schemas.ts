/**
 * What the API answers, and what events carry, as schemas: the types beside the code are the same, which the compiler checks
 * here. Nothing is parsed with them at run time; the API document is made of them.
 */
import type { z } from 'zod';
import * as channel from './answers/channel.js';
import * as chats from './answers/chats-and-contacts.js';
import * as content from './answers/message-content.js';
import * as messages from './answers/messages.js';
import type * as shapes from './answer-shapes.js';
import { settingsSchema } from './settings.js';

/** By the name that each has in the API document. */
export const ANSWERS = {
  Health: channel.health,
  ChannelStatus: channel.channelStatus,
  Settings: settingsSchema,
  SettingsUpdateResult: channel.settingsUpdateResult,
  Success: channel.success,
  UserProfile: chats.userProfile,
  Message: messages.message,
  MessageContext: messages.messageContext,
  MessageReaction: messages.messageReaction,
  ActionContent: messages.actionContent,
  TextContent: content.textContent,
  ImageContent: content.imageContent,
  VideoContent: content.videoContent,
  AudioContent: content.audioContent,
  DocumentContent: content.documentContent,
  StickerContent: content.stickerContent,
  LocationContent: content.locationContent,
  LiveLocationContent: content.liveLocationContent,
  ContactContent: content.contactContent,
  ContactListContent: content.contactListContent,
  LinkPreviewContent: content.linkPreviewContent,
  AdminInviteContent: content.adminInviteContent,
  ProductContent: content.productContent,
  OrderContent: content.orderContent,
  PollContent: content.pollContent,
  SystemContent: content.systemContent,
  ReplyContent: content.replyContent,
  ListContent: content.listContent,
  ButtonsContent: content.buttonsContent,
  InteractiveContent: content.interactiveContent,
  HsmContent: content.hsmContent,
  PlannedEventContent: content.plannedEventContent,
  UnknownContent: content.unknownContent,
  SentMessage: messages.sentMessage,
  EditResult: messages.editResult,
  StatusEntry: messages.statusEntry,
  StatusesList: messages.statusesList,
  MessagesList: chats.messagesList,
  Chat: chats.chat,
  ChatsList: chats.chatsList,
  Contact: chats.contactShape,
  ContactsList: chats.contactsList,
  CheckContactsResult: chats.checkContactsResult,
  Group: chats.group,
  GroupsList: chats.groupsList,
  Participant: chats.participant,
  ParticipantInvite: chats.participantInvite,
  GroupCreateResult: chats.groupCreateResult,
  ParticipantsResult: chats.participantsResult,
  JoinGroupResult: chats.joinGroupResult,
  GroupInvite: chats.groupInvite,
  GroupInviteRevoked: chats.groupInviteRevoked,
  MediaFile: content.mediaFile,
  MediaFilesList: channel.mediaFilesList,
  UploadMediaResult: channel.uploadMediaResult,
  Presence: chats.presence,
  ParticipantsEvent: chats.participantsEvent,
  CallEvent: channel.callEvent,
  QrEvent: channel.qrEvent,
  ServiceNotice: channel.serviceNotice,
} satisfies { [Name in keyof shapes.AnswerShapes]: z.ZodType<shapes.AnswerShapes[Name]> };

export type AnswerName = keyof typeof ANSWERS;
