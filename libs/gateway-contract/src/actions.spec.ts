import { patchChatBody, postChatAction } from './chat-actions.js';
import { checkContactsBody, normalizeContactId, readPhoneNumber } from './contacts.js';
import { GatewayError } from './errors.js';
import { createGroupBody, groupLinkAction, participantsBody, patchGroupAction } from './groups.js';
import { postMessageAction, putMessageAction, reactionBody } from './message-actions.js';
import { parseInput } from './parse.js';
import { sendLocationBody, sendPollBody } from './plain-messages.js';
import { sendPresenceBody } from './presences.js';
import { loginImageQuery } from './queries.js';

const to = '15550001111';
const detailsOf = (read: () => unknown): string | undefined => {
  try {
    read();
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return error.details;
    throw error;
  }
  return undefined;
};
const NO_OBJECT = 'body: a JSON object is expected';

describe('calls with two meanings', () => {
  it('forwards a message only when the body has a recipient', () => {
    expect(postMessageAction({ to, force: true, extra: 1 })).toEqual({ action: 'forward', body: { to, force: true } });
    for (const body of [undefined, null, {}, { to: null }, { status: 'read' }]) {
      expect(postMessageAction(body)).toEqual({ action: 'read' });
    }
    expect(detailsOf(() => postMessageAction({ to: '' }))).toMatch(/^to: /);
    expect(detailsOf(() => postMessageAction([]))).toBe(NO_OBJECT);
  });

  it('marks as read by PUT only when there is no body at all', () => {
    expect(putMessageAction(undefined)).toEqual({ action: 'read' });
    expect(putMessageAction({ body: 'x' })).toEqual({ action: 'edit', body: { body: 'x' } });
    expect(detailsOf(() => putMessageAction({}))).toBe('body: required');
    expect(detailsOf(() => putMessageAction({ body: ' ' }))).toBe('body: must not be empty');
    expect(detailsOf(() => putMessageAction(null))).toBe(NO_OBJECT);
  });

  it('archives a chat only when the body has archive', () => {
    expect(postChatAction({ archive: false })).toEqual({ action: 'archive', body: { archive: false } });
    for (const body of [undefined, {}, { archive: null }]) expect(postChatAction(body)).toEqual({ action: 'read' });
    expect(detailsOf(() => postChatAction({ archive: 'yes' }))).toBe('archive: must be true or false');
    expect(detailsOf(() => postChatAction('x'))).toBe(NO_OBJECT);
  });

  it('never joins a group when the body has a recipient for the link', () => {
    expect(groupLinkAction({ to, body: 'Join %URL%' })).toMatchObject({
      action: 'send',
      body: { to, body: 'Join %URL%' },
    });
    for (const body of [undefined, {}, { to: null }]) expect(groupLinkAction(body)).toEqual({ action: 'join' });
    expect(detailsOf(() => groupLinkAction({ to: 'x' }))).toMatch(/^to: /);
  });

  it('takes either kind of body for a group, not a mixture', () => {
    expect(patchGroupAction({ description: '' })).toEqual({ action: 'info', body: { description: '' } });
    expect(patchGroupAction({ setting: 'edit_group_info', policy: 'admins' }).action).toBe('setting');
    expect(detailsOf(() => patchGroupAction({ setting: 'send_messages' }))).toBe('policy: required');
    expect(detailsOf(() => patchGroupAction({ policy: 'admins' }))).toBe('setting: required');
    expect(detailsOf(() => patchGroupAction({ setting: 'x', policy: 'admins' }))).toBe(
      'setting: must be one of send_messages, edit_group_info, approve_participants, add_participants',
    );
    expect(detailsOf(() => patchGroupAction({ subject: null }))).toBe(
      'body: one of subject, description, setting is required',
    );
    expect(detailsOf(() => patchGroupAction({ subject: 'a', setting: 'send_messages', policy: 'admins' }))).toBe(
      'body: either subject and description, or setting with policy',
    );
    expect(detailsOf(() => patchGroupAction(undefined))).toBe(NO_OBJECT);
  });
});

describe('bodies with rules of their own', () => {
  it('changes nothing of a chat only on purpose', () => {
    expect(parseInput(patchChatBody, { mute: true, ephemeral: 'week' })).toEqual({ mute: true, ephemeral: 'week' });
    expect(detailsOf(() => parseInput(patchChatBody, { pin: null, star: true }))).toBe(
      'body: one of archive, pin, mute, mute_until, mark_unread, ephemeral is required',
    );
    expect(detailsOf(() => parseInput(patchChatBody, { ephemeral: 'year' }))).toBe(
      'ephemeral: must be one of none, day, week, quarter',
    );
  });

  it('takes a blank, a null and no emoji as taking the reaction back', () => {
    for (const body of [{ emoji: '' }, { emoji: ' ' }, { emoji: null }, {}]) {
      expect(parseInput(reactionBody, body)).toEqual({ emoji: '' });
    }
    expect(parseInput(reactionBody, { emoji: '👩‍👩‍👧‍👦' })).toEqual({ emoji: '👩‍👩‍👧‍👦' });
  });
});

describe('bodies that name people', () => {
  it('names participants by contact id, each once', () => {
    const participants = ['15550002222@s.whatsapp.net', '15550002222', '15550003333', '99887766554433@lid'];
    expect(parseInput(participantsBody, { participants })).toEqual({
      participants: ['15550002222', '15550003333', '99887766554433@lid'],
    });
    const refused = { subject: 'x', participants: ['15550002222', '+15550003333'] };
    expect(detailsOf(() => parseInput(createGroupBody, refused))).toBe(
      'participants.1: must be phone digits or <digits>@s.whatsapp.net',
    );
    expect(detailsOf(() => parseInput(participantsBody, { participants: [] }))).toBe(
      'participants: must have at least 1 entry',
    );
  });

  it('takes any text for a number to check: what is none becomes invalid later', () => {
    expect(parseInput(checkContactsBody, { contacts: ['junk', ''], blocking: 'wait' })).toEqual({
      contacts: ['junk', ''],
    });
    expect(detailsOf(() => parseInput(checkContactsBody, { contacts: [] }))).toBe(
      'contacts: must have at least 1 entry',
    );
    expect(detailsOf(() => parseInput(checkContactsBody, { contacts: [1] }))).toBe('contacts.0: must be text');
    expect(detailsOf(() => parseInput(checkContactsBody, { contacts: Array<string>(1_001).fill(to) }))).toBe(
      'contacts: must have at most 1000 entries',
    );
    expect(readPhoneNumber('+1 (555) 000-1111')).toBe(to);
    expect(readPhoneNumber('1.555.000.1111')).toBe(to);
    expect(readPhoneNumber(`${to}@s.whatsapp.net`)).toBe(to);
    for (const junk of ['', '123456', '1234567890123456', 'call me', `${to}@g.us`]) {
      expect(readPhoneNumber(junk)).toBeUndefined();
    }
  });

  it('knows contact ids by digits or LID, and no group', () => {
    expect(normalizeContactId(`${to}@s.whatsapp.net`)).toBe(to);
    expect(normalizeContactId('99887766554433@lid')).toBe('99887766554433@lid');
    expect(normalizeContactId('120363000000000001@g.us')).toBeUndefined();
  });
});

describe('bodies with limits', () => {
  it('holds a poll to 2 to 12 different options and one or any choices', () => {
    const poll = { to, title: 'Lunch?', options: ['Noodles', 'Rice'] };
    expect(parseInput(sendPollBody, poll).count).toBe(0);
    expect(detailsOf(() => parseInput(sendPollBody, { ...poll, options: ['a'] }))).toBe(
      'options: must have 2 to 12 entries',
    );
    expect(detailsOf(() => parseInput(sendPollBody, { ...poll, options: ['a', 'a'] }))).toBe('options: must be unique');
    expect(detailsOf(() => parseInput(sendPollBody, { ...poll, count: 2 }))).toBe('count: must be between 0 and 1');
  });

  it('keeps a location on the globe, and drops what was not measured', () => {
    expect(detailsOf(() => parseInput(sendLocationBody, { to, latitude: 91, longitude: 0 }))).toBe(
      'latitude: must be between -90 and 90',
    );
    const unmeasured = { to, latitude: 1, longitude: 2, speed: -1, degrees: 0 };
    expect(JSON.parse(JSON.stringify(parseInput(sendLocationBody, unmeasured)))).toEqual({
      to,
      latitude: 1,
      longitude: 2,
      degrees: 0,
    });
  });

  it('clears an indicator under both of its names', () => {
    expect(parseInput(sendPresenceBody, { presence: 'paused' })).toEqual({ presence: 'pause', delay: 0 });
    expect(detailsOf(() => parseInput(sendPresenceBody, { presence: 'typing', delay: -1 }))).toBe(
      'delay: must be 0 or more',
    );
  });

  it('draws the login code 264 pixels wide by default', () => {
    expect(parseInput(loginImageQuery, {})).toEqual({ wakeup: true, size: 264 });
    expect(parseInput(loginImageQuery, { size: '300', wakeup: '0', color_dark: '112233' })).toEqual({
      wakeup: false,
      size: 300,
      color_dark: '#112233',
    });
    expect(detailsOf(() => parseInput(loginImageQuery, { size: '9999' }))).toBe('size: must be between 100 and 2000');
  });
});
