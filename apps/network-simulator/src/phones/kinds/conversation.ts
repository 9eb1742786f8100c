import { randomBytes } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { z } from 'zod';
import { Refusal } from '../../network/refusal.js';
import { keyOf, kind, sealFor, storedMessage } from './kind.js';

const { EventResponseType } = proto.Message.EventResponseMessage;
const { CallOutcome } = proto.Message.CallLogMessage;
const { MESSAGE_EDIT } = proto.Message.SecretEncryptedMessage.SecretEncType;
const { ProtocolMessage } = proto.Message;

const RESPONSES = {
  going: EventResponseType.GOING,
  'not-going': EventResponseType.NOT_GOING,
  maybe: EventResponseType.MAYBE,
} as const;
const OUTCOMES = {
  connected: CallOutcome.CONNECTED,
  missed: CallOutcome.MISSED,
  failed: CallOutcome.FAILED,
  rejected: CallOutcome.REJECTED,
  'accepted-elsewhere': CallOutcome.ACCEPTED_ELSEWHERE,
  ongoing: CallOutcome.ONGOING,
} as const;
const target = z.string().min(1);
const place = z.object({
  latitude: z.number(),
  longitude: z.number(),
  name: z.string().optional(),
  address: z.string().optional(),
});

/** What people send besides words and files. */
export const conversationKinds = {
  event: kind(
    z.object({
      name: z.string().min(1),
      description: z.string().optional(),
      startsAt: z.iso.datetime({ offset: true }),
      endsAt: z.iso.datetime({ offset: true }).optional(),
      location: place.optional(),
      link: z.string().optional().describe('To join a call.'),
      guests: z.boolean().default(false).describe('People may bring others.'),
      cancelled: z.boolean().default(false),
    }),
    ({ name, description, startsAt, endsAt, location, link, guests, cancelled }, { contextInfo }) => ({
      content: {
        eventMessage: {
          name,
          ...(description !== undefined && { description }),
          startTime: Math.floor(Date.parse(startsAt) / 1000),
          ...(endsAt !== undefined && { endTime: Math.floor(Date.parse(endsAt) / 1000) }),
          ...(location && {
            location: {
              degreesLatitude: location.latitude,
              degreesLongitude: location.longitude,
              name: location.name ?? '',
              address: location.address ?? '',
            },
          }),
          ...(link !== undefined && { joinLink: link }),
          extraGuestsAllowed: guests,
          isCanceled: cancelled,
          contextInfo,
        },
      },
    }),
  ),
  eventAnswer: kind(
    z.object({
      id: target,
      answer: z.enum(['going', 'not-going', 'maybe']),
      guests: z.number().int().min(0).default(0),
    }),
    ({ id, answer, guests }, { phone, chat }) => {
      const event = storedMessage(phone, id);
      const plain = proto.Message.EventResponseMessage.encode({
        response: RESPONSES[answer],
        timestampMs: phone.network.now(),
        extraGuestCount: guests,
      }).finish();
      const sealed = sealFor({ phone, chat }, event, 'Event Response', plain);
      return {
        content: { encEventResponseMessage: { eventCreationMessageKey: keyOf(phone, event, chat), ...sealed } },
      };
    },
  ),
  sealedEdit: kind(
    z.object({ id: target, text: z.string() }).describe('An edit as phones of today send it: encrypted once more.'),
    ({ id, text }, { phone, chat }) => {
      const edited = storedMessage(phone, id);
      if (!edited.fromMe) throw new Refusal(403, 'That message is not your own.');
      const key = keyOf(phone, edited, chat);
      const plain = proto.Message.encode({
        protocolMessage: {
          type: ProtocolMessage.Type.MESSAGE_EDIT,
          key,
          editedMessage: { conversation: text },
          timestampMs: phone.network.now(),
        },
      }).finish();
      const sealed = sealFor({ phone, chat }, edited, 'Message Edit', plain);
      return {
        content: { secretEncryptedMessage: { targetMessageKey: key, secretEncType: MESSAGE_EDIT, ...sealed } },
        edit: '1',
      };
    },
  ),
  sealedReaction: kind(
    z.object({ id: target, emoji: z.string() }).describe('A reaction in an announcement group: encrypted once more.'),
    ({ id, emoji }, { phone, chat }) => {
      const message = storedMessage(phone, id);
      const plain = proto.Message.ReactionMessage.encode({
        text: emoji,
        senderTimestampMs: phone.network.now(),
      }).finish();
      const sealed = sealFor({ phone, chat }, message, 'Enc Reaction', plain);
      return { content: { encReactionMessage: { targetMessageKey: keyOf(phone, message, chat), ...sealed } } };
    },
  ),
  comment: kind(z.object({ id: target, text: z.string().min(1) }), ({ id, text }, { phone, chat }) => {
    const message = storedMessage(phone, id);
    const sealed = sealFor(
      { phone, chat },
      message,
      'Enc Comment',
      proto.Message.encode({ conversation: text }).finish(),
    );
    return { content: { encCommentMessage: { targetMessageKey: keyOf(phone, message, chat), ...sealed } } };
  }),
  timer: kind(
    z.number().int().min(0).describe('Seconds until messages of the chat disappear; 0: they stay.'),
    (seconds, { chat }) => ({
      content: {
        protocolMessage: {
          type: ProtocolMessage.Type.EPHEMERAL_SETTING,
          ephemeralExpiration: seconds,
          key: { remoteJid: chat, fromMe: true },
        },
      },
    }),
  ),
  callKey: kind(z.literal(true).describe('The key of a call, which is nothing to show.'), () => ({
    content: { call: { callKey: randomBytes(32) } },
  })),
  callLog: kind(
    z.object({
      outcome: z.enum(['connected', 'missed', 'failed', 'rejected', 'accepted-elsewhere', 'ongoing']),
      video: z.boolean().default(false),
      seconds: z.number().int().min(0).default(0),
    }),
    ({ outcome, video, seconds }) => ({
      content: {
        callLogMesssage: { callOutcome: OUTCOMES[outcome], isVideo: video, durationSecs: seconds, callType: 0 },
      },
    }),
  ),
  album: kind(
    z
      .object({ images: z.number().int().min(0).default(0), videos: z.number().int().min(0).default(0) })
      .describe('Announces the pictures that follow with `albumOf`.'),
    ({ images, videos }, { contextInfo }) => ({
      content: { albumMessage: { expectedImageCount: images, expectedVideoCount: videos, contextInfo } },
    }),
  ),
  liveLocation: kind(
    place
      .pick({ latitude: true, longitude: true })
      .extend({ caption: z.string().optional(), sequence: z.number().int().min(1).default(1) }),
    ({ latitude, longitude, caption, sequence }, { contextInfo }) => ({
      content: {
        liveLocationMessage: {
          degreesLatitude: latitude,
          degreesLongitude: longitude,
          sequenceNumber: sequence,
          ...(caption !== undefined && { caption }),
          contextInfo,
        },
      },
    }),
  ),
  pin: kind(
    z.object({ id: target, pinned: z.boolean().default(true), seconds: z.number().int().min(0).default(86_400) }),
    ({ id, pinned, seconds }, { phone, chat }) => ({
      content: {
        pinInChatMessage: {
          key: keyOf(phone, storedMessage(phone, id), chat),
          type: pinned ? 1 : 2,
          senderTimestampMs: phone.network.now(),
        },
        messageContextInfo: { messageAddOnDurationInSecs: pinned ? seconds : 0 },
      },
      edit: '2',
    }),
  ),
  keep: kind(
    z.object({ id: target, kept: z.boolean().default(true) }).describe('Keeps a message that would disappear.'),
    ({ id, kept }, { phone, chat }) => ({
      content: {
        keepInChatMessage: {
          key: keyOf(phone, storedMessage(phone, id), chat),
          keepType: kept ? 1 : 2,
          timestampMs: phone.network.now(),
        },
      },
    }),
  ),
  requestNumber: kind(
    z.literal(true).describe('Requests the number of somebody who hides it.'),
    (_given, { contextInfo }) => ({
      content: { requestPhoneNumberMessage: { contextInfo } },
    }),
  ),
  shareNumber: kind(z.literal(true).describe("Shows one's number to somebody who knows the private id alone."), () => ({
    content: { protocolMessage: { type: ProtocolMessage.Type.SHARE_PHONE_NUMBER } },
  })),
  groupInvite: kind(
    z.object({ group: z.string(), code: z.string(), name: z.string().default(''), caption: z.string().optional() }),
    ({ group, code, name, caption }, { phone, contextInfo }) => ({
      content: {
        groupInviteMessage: {
          groupJid: group,
          inviteCode: code,
          inviteExpiration: Math.floor(phone.network.now() / 1000) + 3 * 86_400,
          groupName: name,
          ...(caption !== undefined && { caption }),
          contextInfo,
        },
      },
    }),
  ),
};
