/** How each of the 56 calls is read, by method and path template: what a server does with this contract. */
import type { z } from 'zod';
import { patchChatBody, postChatAction } from './chat-actions.js';
import { checkContactsBody } from './contacts.js';
import { FORM_FILE_FIELDS, parseForm, type FormPart } from './form.js';
import { createGroupBody, groupLinkAction, participantsBody, patchGroupAction } from './groups.js';
import { FilePart, listMediaQuery, uploadMediaBody } from './media.js';
import {
  sendAudioBody,
  sendDocumentBody,
  sendImageBody,
  sendStickerBody,
  sendVideoBody,
  sendVoiceBody,
} from './media-messages.js';
import { postMessageAction, putMessageAction, reactionBody } from './message-actions.js';
import { listMessagesQuery, sendTextBody } from './messages.js';
import { expectObjectOrNothing, jsonExpected, parseInput } from './parse.js';
import { sendContactBody, sendLinkPreviewBody, sendLocationBody, sendPollBody } from './plain-messages.js';
import { sendPresenceBody, setOwnPresenceBody } from './presences.js';
import { updateProfileBody } from './profile.js';
import { loginImageQuery, pageQuery, resyncQuery } from './queries.js';
import { settingsPatchBody } from './settings.js';
import type { Sample } from './test-samples.js';

type Reader = (request: Sample['request'], route: string) => unknown;

const nothing: Reader = () => undefined;
const query =
  (schema: z.ZodType): Reader =>
  (request) =>
    parseInput(schema, request.query ?? {});
const optionalBody =
  (read: (body: unknown) => unknown): Reader =>
  (request) =>
    read(request.body);
const body =
  (schema: z.ZodObject): Reader =>
  ({ multipart, body: json }, route) => {
    if (!multipart) return parseInput(schema, json);
    if (!isFormRoute(route)) throw jsonExpected();
    return parseForm(schema, multipart.map(formPart), FORM_FILE_FIELDS[route]);
  };

const isFormRoute = (route: string): route is keyof typeof FORM_FILE_FIELDS => Object.hasOwn(FORM_FILE_FIELDS, route);

function formPart({
  name,
  text,
  filename,
  contentType,
}: NonNullable<Sample['request']['multipart']>[number]): FormPart {
  if (text !== undefined) return { name, text };
  return new FilePart(name, `parts/${name}`, {
    ...(filename === undefined ? {} : { fileName: filename }),
    ...(contentType === undefined ? {} : { mimeType: contentType }),
  });
}

const upload: Reader = (request, route) =>
  request.multipart || request.contentType === 'application/json' ? body(uploadMediaBody)(request, route) : undefined;

export const READERS: Record<string, Reader> = {
  'GET /health': nothing,
  'GET /settings': nothing,
  'PATCH /settings': body(settingsPatchBody),
  'GET /users/login/image': query(loginImageQuery),
  'GET /users/profile': nothing,
  'PATCH /users/profile': body(updateProfileBody),
  'POST /users/logout': optionalBody(expectObjectOrNothing),
  'GET /messages/list': query(listMessagesQuery),
  'GET /messages/list/{ChatID}': query(listMessagesQuery),
  'POST /messages/text': body(sendTextBody),
  'POST /messages/image': body(sendImageBody),
  'POST /messages/video': body(sendVideoBody),
  'POST /messages/audio': body(sendAudioBody),
  'POST /messages/voice': body(sendVoiceBody),
  'POST /messages/document': body(sendDocumentBody),
  'POST /messages/sticker': body(sendStickerBody),
  'POST /messages/location': body(sendLocationBody),
  'POST /messages/contact': body(sendContactBody),
  'POST /messages/link_preview': body(sendLinkPreviewBody),
  'POST /messages/poll': body(sendPollBody),
  'GET /messages/{MessageID}': query(resyncQuery),
  'POST /messages/{MessageID}': optionalBody(postMessageAction),
  'PUT /messages/{MessageID}': optionalBody(putMessageAction),
  'DELETE /messages/{MessageID}': nothing,
  'PUT /messages/{MessageID}/reaction': body(reactionBody),
  'DELETE /messages/{MessageID}/reaction': nothing,
  'PUT /messages/{MessageID}/star': nothing,
  'GET /statuses/{MessageID}': nothing,
  'GET /chats': query(pageQuery),
  'GET /chats/{ChatID}': nothing,
  'POST /chats/{ChatID}': optionalBody(postChatAction),
  'PATCH /chats/{ChatID}': body(patchChatBody),
  'DELETE /chats/{ChatID}': nothing,
  'GET /contacts': query(pageQuery),
  'POST /contacts': body(checkContactsBody),
  'GET /contacts/{ContactID}': nothing,
  'GET /contacts/{ContactID}/profile': nothing,
  'GET /groups': query(pageQuery),
  'POST /groups': body(createGroupBody),
  'GET /groups/{GroupID}': query(resyncQuery),
  'PATCH /groups/{GroupID}': optionalBody(patchGroupAction),
  'DELETE /groups/{GroupID}': nothing,
  'POST /groups/{GroupID}/participants': body(participantsBody),
  'DELETE /groups/{GroupID}/participants': body(participantsBody),
  'PATCH /groups/{GroupID}/admins': body(participantsBody),
  'DELETE /groups/{GroupID}/admins': body(participantsBody),
  'POST /groups/link/{InviteCode}': optionalBody(groupLinkAction),
  'GET /groups/{GroupID}/invite': nothing,
  'DELETE /groups/{GroupID}/invite': nothing,
  'GET /media': query(listMediaQuery),
  'POST /media': upload,
  'GET /media/{MediaID}': nothing,
  'DELETE /media/{MediaID}': nothing,
  'PUT /presences/me': body(setOwnPresenceBody),
  'POST /presences/{EntryID}': nothing,
  'PUT /presences/{EntryID}': body(sendPresenceBody),
};
