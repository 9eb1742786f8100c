import type { GroupRecord, MemberRecord } from '@dormouse/message-store/write';
import type { GroupMetadata, WAMessage } from '@whiskeysockets/baileys';
import { WAMessageAddressingMode, WAMessageStubType } from '../socket/test-library.js';
import {
  groupAfter,
  groupChange,
  groupFromNetwork,
  groupToNetwork,
  memberFromNetwork,
  requestAction,
  requestAfter,
} from './group.js';
import type { People } from './people.js';

const ID = '120363000000000001@g.us';
const people: People = {
  own: { phone: '15550009999', lid: '900000000009' },
  numbers: new Map([['900000000002', '15550002222']]),
};
const described: GroupMetadata = {
  id: ID,
  addressingMode: WAMessageAddressingMode.LID,
  subject: 'Example Group',
  subjectOwner: '900000000009@lid',
  subjectTime: 1_790_000_001,
  creation: 1_790_000_000,
  owner: '900000000001@lid',
  ownerPn: '15550001111@s.whatsapp.net',
  desc: 'For tests',
  descId: 'D1',
  descOwner: '900000000002@lid',
  restrict: false,
  announce: true,
  memberAddMode: true,
  participants: [
    { id: '900000000009@lid', phoneNumber: '15550009999@s.whatsapp.net', admin: 'superadmin' },
    { id: '900000000002@lid', admin: 'admin' },
    { id: '900000000003@lid', admin: null },
  ],
};
const SHOP: MemberRecord = { jid: '900000000009@lid', phone: '15550009999', lid: '900000000009', rank: 'creator' };
const BO: MemberRecord = { jid: '900000000002@lid', phone: '15550002222', lid: '900000000002', rank: 'admin' };
const CY: MemberRecord = { jid: '900000000003@lid', lid: '900000000003', rank: 'member' };
const group = (): GroupRecord => groupFromNetwork(described, people);

describe('a group from the network', () => {
  it('names its people by number wherever a number is known', () => {
    expect(group()).toEqual({
      id: ID,
      member: true,
      members: [SHOP, BO, CY],
      facts: {
        name: 'Example Group',
        nameAt: 1_790_000_001,
        nameOwner: '15550009999',
        createdAt: 1_790_000_000,
        createdBy: '15550001111',
        description: 'For tests',
        descriptionId: 'D1',
        descriptionOwner: '15550002222',
        restricted: false,
        announcements: true,
        membersMayAdd: true,
        approval: false,
        ephemeralS: 0,
        communityAnnounce: false,
        isParent: false,
        addressing: 'lid',
      },
    });
  });

  it('shows when the channel is not a member', () => {
    expect(groupFromNetwork({ ...described, participants: described.participants.slice(1) }, people).member).toBe(
      false,
    );
  });

  it('leaves out times that the network did not send', () => {
    const { facts } = groupFromNetwork({ ...described, subjectTime: NaN, creation: NaN }, people);
    expect(facts.createdAt).toBe(0);
    expect(facts).not.toHaveProperty('nameAt');
  });

  it('reads members of groups that go by number', () => {
    const participant = { id: '15550002222@s.whatsapp.net', lid: '900000000002@lid', admin: 'admin' as const };
    expect(memberFromNetwork(participant, people)).toEqual({ ...BO, jid: '15550002222@s.whatsapp.net' });
  });
});

it('a stored group gives the library the members to encrypt for, by the addresses that the group uses', () => {
  expect(groupToNetwork(group())).toMatchObject({
    id: ID,
    addressingMode: 'lid',
    announce: true,
    participants: [
      { id: '900000000009@lid', admin: 'superadmin' },
      { id: '900000000002@lid', admin: 'admin' },
      { id: '900000000003@lid', admin: null },
    ],
  });
});

describe('members', () => {
  const DEE: MemberRecord = { jid: '900000000004@lid', phone: '15550004444', lid: '900000000004', rank: 'member' };
  const after = (...change: [Parameters<typeof groupAfter>[1], readonly MemberRecord[]]) =>
    groupAfter(group(), ...change, people);

  it('join and leave, under any of their addresses', () => {
    expect(after('add', [DEE])?.members).toEqual([SHOP, BO, CY, DEE]);
    expect(after('add', [BO])?.members).toEqual([SHOP, BO, CY]);
    expect(
      after('remove', [{ jid: '15550002222@s.whatsapp.net', phone: '15550002222', rank: 'member' }]),
    ).toMatchObject({
      member: true,
      members: [SHOP, CY],
    });
  });

  it('are promoted and demoted, except the creator', () => {
    expect(after('promote', [CY, SHOP])?.members).toEqual([SHOP, BO, { ...CY, rank: 'admin' }]);
    expect(after('demote', [BO])?.members).toEqual([SHOP, { ...BO, rank: 'member' }, CY]);
  });

  it('are unknown when the channel itself comes back', () => {
    const left = after('remove', [SHOP]);
    expect(left).toMatchObject({ member: false, members: [BO, CY] });
    expect(left && groupAfter(left, 'add', [SHOP], people)).toBeUndefined();
  });
});

describe('notices', () => {
  const notice = (
    messageStubType: NonNullable<WAMessage['messageStubType']>,
    ...messageStubParameters: string[]
  ): WAMessage => ({
    key: { remoteJid: ID, id: 'N1', participant: '900000000002@lid' },
    messageStubType,
    messageStubParameters,
    messageTimestamp: 1_790_000_500,
  });
  const changed = (given: WAMessage) => groupChange(given, people)?.(group())?.facts;

  it('report the name with its time and author', () => {
    expect(changed(notice(WAMessageStubType.GROUP_CHANGE_SUBJECT, 'New Name'))).toMatchObject({
      name: 'New Name',
      nameAt: 1_790_000_500,
      nameOwner: '15550002222',
    });
    expect(changed(notice(WAMessageStubType.GROUP_CHANGE_SUBJECT, 'Example Group'))).toEqual(group().facts);
  });

  it('report a description, and its removal', () => {
    const { descriptionId: _, ...facts } = group().facts;
    const described = changed(notice(WAMessageStubType.GROUP_CHANGE_DESCRIPTION, 'Other'));
    expect(described).toEqual({ ...facts, description: 'Other', descriptionOwner: '15550002222' });
    expect(changed(notice(WAMessageStubType.GROUP_CHANGE_DESCRIPTION))).not.toHaveProperty('description');
  });

  it.each([
    [WAMessageStubType.GROUP_CHANGE_ANNOUNCE, 'off', { announcements: false }],
    [WAMessageStubType.GROUP_CHANGE_RESTRICT, 'on', { restricted: true }],
    [WAMessageStubType.GROUP_MEMBER_ADD_MODE, 'admin_add', { membersMayAdd: false }],
    [WAMessageStubType.GROUP_MEMBERSHIP_JOIN_APPROVAL_MODE, 'on', { approval: true }],
    [WAMessageStubType.GROUP_CHANGE_INVITE_LINK, 'AbCdEfGhIjKlMnOp', { inviteCode: 'AbCdEfGhIjKlMnOp' }],
  ])('report rule %i', (type, value, facts) => {
    expect(changed(notice(type, value))).toMatchObject(facts);
  });

  describe('of a member who changes numbers', () => {
    const CHANGED = WAMessageStubType.GROUP_PARTICIPANT_CHANGE_NUMBER;
    const known = { ...people, numbers: new Map([...people.numbers, ['900000000012', '15550003333']]) };

    it('put the new address in the place of the former one, with its rank', () => {
      const after = groupChange(notice(CHANGED, '900000000012@lid'), known)?.(group());
      const renumbered = { jid: '900000000012@lid', phone: '15550003333', lid: '900000000012', rank: 'admin' };
      expect(after?.members).toEqual([SHOP, CY, renumbered]);
    });

    it('put the new number in the place of the former one where members go by number', () => {
      const byNumber = (phone: string, rank: MemberRecord['rank']) => ({ jid: `${phone}@s.whatsapp.net`, phone, rank });
      const { facts, ...rest } = group();
      const before: GroupRecord = {
        ...rest,
        facts: { ...facts, addressing: 'pn' },
        members: [byNumber('15550009999', 'creator'), byNumber('15550002222', 'member')],
      };
      const given = notice(CHANGED, '15550003333@s.whatsapp.net');
      given.key.participant = '15550002222@s.whatsapp.net';
      expect(groupChange(given, people)?.(before)?.members).toEqual([
        byNumber('15550009999', 'creator'),
        byNumber('15550003333', 'member'),
      ]);
    });

    it.each([
      ['the new address has no number yet', notice(CHANGED, '900000000077@lid')],
      ['no address is given', notice(CHANGED)],
      ['the former one is no member', { ...notice(CHANGED, '900000000012@lid'), key: { participant: '1@lid' } }],
    ])('leave the group to the network where %s', (_, given) => {
      const change = groupChange(given, known);
      expect(change).toBeDefined();
      expect(change?.(group())).toBeUndefined();
    });
  });

  it('are no others', () => {
    expect(groupChange(notice(WAMessageStubType.GROUP_PARTICIPANT_ADD, '{}'), people)).toBeUndefined();
    expect(groupChange({ key: {}, message: { conversation: 'hi' } }, people)).toBeUndefined();
  });
});

describe('a request to join', () => {
  const REQUESTER = '15550004444';

  it.each([
    ['created', 'request'],
    ['revoked', 'revoke_request'],
    ['rejected', 'rejected_request'],
  ] as const)('that was %s is stored as %s', (action, stored) => {
    expect(requestAfter(group(), REQUESTER, requestAction(action)).facts.requests).toEqual([[REQUESTER, stored]]);
  });

  it('is stored with its last step, and a repeated step changes nothing', () => {
    const requested = requestAfter(group(), REQUESTER, 'request');
    expect(requestAfter(requested, REQUESTER, 'request')).toBe(requested);
    const other = requestAfter(requested, '15550005555', 'request');
    expect(requestAfter(other, REQUESTER, 'rejected_request').facts.requests).toEqual([
      ['15550005555', 'request'],
      [REQUESTER, 'rejected_request'],
    ]);
  });

  it('ends when the requester is admitted', () => {
    const requested = requestAfter(group(), REQUESTER, 'request');
    const dee: MemberRecord = { jid: '900000000004@lid', phone: REQUESTER, lid: '900000000004', rank: 'member' };
    const after = groupAfter(requested, 'add', [dee], people);
    expect(after?.members).toEqual([SHOP, BO, CY, dee]);
    expect(after?.facts).toEqual(group().facts);
  });

  it('is dropped after hundreds of later ones', () => {
    let crowded = group();
    for (let n = 0; n < 300; n += 1) crowded = requestAfter(crowded, `1555100${String(n).padStart(4, '0')}`, 'request');
    expect(crowded.facts.requests).toHaveLength(200);
    expect(crowded.facts.requests?.at(-1)).toEqual(['15551000299', 'request']);
  });
});
