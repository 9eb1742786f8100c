import { settingsPatchBody } from '../settings.js';
import { updateProfileBody } from '../profile.js';
import { listMediaQuery, uploadMediaBody } from '../media.js';
import { sendPresenceBody, setOwnPresenceBody } from '../presences.js';
import { loginImageQuery } from '../queries.js';
import type { Endpoint } from './endpoint.js';

export const CHANNEL_ENDPOINTS = {
  getHealth: {
    method: 'get',
    path: '/health',
    tag: 'Channel',
    summary: 'Get the state of the channel',
    description:
      'Answers from what is stored, without waking a channel that sleeps: safe to poll. `status.text` is `connected` when the channel can send; a channel that sleeps is connected, too, and has `status.hibernated`.',
    answers: ['Health'],
    failures: [],
    failsRarely: true,
  },
  getSettings: {
    method: 'get',
    path: '/settings',
    tag: 'Channel',
    summary: 'Get the settings',
    answers: ['Settings'],
    failures: [],
  },
  updateSettings: {
    method: 'patch',
    path: '/settings',
    tag: 'Channel',
    summary: 'Change settings',
    description: 'Fields that are absent stay as they are. `webhooks` is replaced as a whole, `media` key by key.',
    bodies: [settingsPatchBody],
    isOptional: true,
    answers: ['SettingsUpdateResult'],
    failures: [400],
  },
  getLoginImage: {
    method: 'get',
    path: '/users/login/image',
    tag: 'Channel',
    summary: 'Get the QR code that links the number',
    description:
      'A PNG. A code is valid for about 20 seconds: request the next one when it has passed. 403 when the channel is linked already.',
    query: loginImageQuery,
    answers: 'image/png',
    failures: [400, 403, 503],
  },
  getOwnProfile: {
    method: 'get',
    path: '/users/profile',
    tag: 'Channel',
    summary: 'Get the profile of the number',
    answers: ['UserProfile'],
    failures: [503],
  },
  updateOwnProfile: {
    method: 'patch',
    path: '/users/profile',
    tag: 'Channel',
    summary: 'Change the profile of the number',
    bodies: [updateProfileBody],
    fileField: 'icon',
    answers: ['Success'],
    failures: [400, 413, 503],
  },
  logout: {
    method: 'post',
    path: '/users/logout',
    tag: 'Channel',
    summary: 'Unlink the number',
    description: 'The channel stays, and so do its messages; to send again, scan a code again.',
    answers: ['Success'],
    failures: [503],
  },
} as const satisfies Record<string, Endpoint>;

export const MEDIA_ENDPOINTS = {
  listMedia: {
    method: 'get',
    path: '/media',
    tag: 'Media',
    summary: 'List uploaded files',
    query: listMediaQuery,
    answers: ['MediaFilesList'],
    failures: [400],
  },
  uploadMedia: {
    method: 'post',
    path: '/media',
    tag: 'Media',
    summary: 'Upload a file',
    description:
      'As a form, as JSON, or as the bytes themselves with their media type as `Content-Type`. The id can be used in any number of sends for 30 days.',
    bodies: [uploadMediaBody],
    fileField: 'media',
    takesBytes: true,
    answers: ['UploadMediaResult'],
    failures: [400, 413],
  },
  downloadMedia: {
    method: 'get',
    path: '/media/{MediaID}',
    tag: 'Media',
    summary: 'Download a file',
    description:
      'Of an upload, or of a message. `Range` is supported. A file of a received message that is not stored yet is fetched from the network first.',
    answers: 'application/octet-stream',
    failures: [400, 404, 416, 503],
  },
  deleteMedia: {
    method: 'delete',
    path: '/media/{MediaID}',
    tag: 'Media',
    summary: 'Delete a file',
    answers: ['Success'],
    failures: [400, 404],
  },
} as const satisfies Record<string, Endpoint>;

export const PRESENCE_ENDPOINTS = {
  setOwnPresence: {
    method: 'put',
    path: '/presences/me',
    tag: 'Presences',
    summary: 'Show the number as online or offline',
    bodies: [setOwnPresenceBody],
    answers: ['Success'],
    failures: [400, 503],
  },
  subscribePresence: {
    method: 'post',
    path: '/presences/{EntryID}',
    tag: 'Presences',
    summary: 'Subscribe to a presence (not supported)',
    description: 'Always 501: presences arrive as events of type `presences`.',
    failures: [501],
  },
  sendPresence: {
    method: 'put',
    path: '/presences/{EntryID}',
    tag: 'Presences',
    summary: 'Show that the number is typing or recording',
    bodies: [sendPresenceBody],
    answers: ['Success'],
    failures: [400, 404, 503],
  },
} as const satisfies Record<string, Endpoint>;
