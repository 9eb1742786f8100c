import { OPERATIONS } from '@dormouse/management-contract';
import { detailsOf, SpecUser } from '../accounts/test-members.js';
import { PUBLIC_URL, RunningControlPlane, type Answer } from '../test-control-plane.js';
import { SpecBrowser, mailsTo, tokenIn, tokenOfLink } from '../users/test-browser.js';

jest.setTimeout(60_000);

const statusOf = ({ status }: Answer): number => status;

describe('the members of an account', () => {
  let plane: RunningControlPlane;
  let accountId: string;
  let owner: SpecUser;
  const member = async (role: 'owner' | 'developer' | 'billing' | 'viewer') =>
    (await SpecUser.create(plane)).join(accountId, role);
  const rolesNow = async (): Promise<Record<string, string>> => {
    const { rows } = await plane.database.pool.query<{ user_id: string; role: string }>(
      'SELECT user_id, role FROM memberships WHERE account_id = $1',
      [accountId],
    );
    return Object.fromEntries(rows.map(({ user_id: id, role }) => [id, role]));
  };

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
  });
  afterAll(() => plane.close());
  beforeEach(async () => {
    ({ accountId } = await plane.newAccount());
    owner = await member('owner');
  });

  it('are those of an account that a user creates: its owner, who renames it and lists it', async () => {
    const user = await SpecUser.create(plane);
    const created = await user.call('POST', '/accounts', { name: ' Acme ' });
    expect(created).toMatchObject({ status: 201, body: { name: 'Acme', role: 'owner' } });
    expect((await user.call('PATCH', '/account', { name: 'Acme 2' })).body).toMatchObject({ name: 'Acme 2' });
    const { accounts } = OPERATIONS.listAccounts.answer.parse((await user.call('GET', '/accounts')).body);
    expect(accounts).toMatchObject([{ id: created.body['id'], name: 'Acme 2', role: 'owner' }]);
    const { members } = OPERATIONS.listMembers.answer.parse((await user.call('GET', '/account/members')).body);
    expect(members).toMatchObject([{ id: user.id, email: user.email, role: 'owner', second_factor: false }]);
  });

  it('get another role, which holds at the next request', async () => {
    const developer = await member('developer');
    expect(statusOf(await developer.call('POST', '/channels', { name: 'Shop' }))).toBe(201);
    const changed = await owner.call('PATCH', `/account/members/${developer.id}`, { role: 'viewer' });
    expect(OPERATIONS.changeRole.answer.parse(changed.body)).toMatchObject({ id: developer.id, role: 'viewer' });
    expect(statusOf(await developer.call('POST', '/channels', { name: 'Shop' }))).toBe(403);
    expect(detailsOf(await owner.call('PATCH', `/account/members/${developer.id}`, { role: 'boss' }))).toBe(
      'role: must be one of owner, developer, billing, viewer',
    );
  });

  it('are refused from the next request on when they are removed or leave', async () => {
    const [removed, leaver] = [await member('viewer'), await member('billing')];
    expect(statusOf(await owner.call('DELETE', `/account/members/${removed.id}`))).toBe(204);
    expect(statusOf(await leaver.call('POST', '/account/leave'))).toBe(204);
    for (const gone of [removed, leaver]) expect(statusOf(await gone.call('GET', '/account'))).toBe(403);
    expect(statusOf(await owner.call('DELETE', `/account/members/${removed.id}`))).toBe(404);
  });

  it('of another account are not found', async () => {
    const stranger = await (await SpecUser.create(plane)).join((await plane.newAccount()).accountId, 'viewer');
    expect(statusOf(await owner.call('DELETE', `/account/members/${stranger.id}`))).toBe(404);
    expect(statusOf(await owner.call('PATCH', `/account/members/${stranger.id}`, { role: 'owner' }))).toBe(404);
  });

  it('have an owner: the last one can neither leave, nor be removed, nor get another role', async () => {
    const refusals = [
      await owner.call('POST', '/account/leave'),
      await owner.call('DELETE', `/account/members/${owner.id}`),
      await owner.call('PATCH', `/account/members/${owner.id}`, { role: 'viewer' }),
    ];
    for (const refused of refusals) {
      expect([refused.status, detailsOf(refused)]).toEqual([409, expect.stringContaining('needs an owner') as string]);
    }
    expect(await rolesNow()).toEqual({ [owner.id]: 'owner' });
  });

  it('keep one of two last owners who leave, remove each other, or step down at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const second = await member('owner');
      const answers = await Promise.all([
        owner.call('DELETE', `/account/members/${second.id}`),
        second.call('DELETE', `/account/members/${owner.id}`),
        owner.call('POST', '/account/leave'),
        second.call('PATCH', `/account/members/${second.id}`, { role: 'viewer' }),
      ]);
      const owners = Object.values(await rolesNow()).filter((role) => role === 'owner');
      expect([owners.length, answers.map(statusOf).filter((status) => status >= 500)]).toEqual([1, []]);
      await owner.join(accountId, 'owner');
      await plane.database.pool.query('DELETE FROM memberships WHERE account_id = $1 AND user_id <> $2', [
        accountId,
        owner.id,
      ]);
    }
  });

  describe('invitations', () => {
    const invite = (email: string, role = 'developer') => owner.call('POST', '/account/invitations', { email, role });
    const accept = (user: SpecUser, token: string) => user.call('POST', '/invitations/accept', { token });

    it('go by mail, are not in the answer, work once, and only for the address they were sent to', async () => {
      const [invited, other] = [await SpecUser.create(plane), await SpecUser.create(plane)];
      const answer = await invite(invited.email.toUpperCase());
      expect(OPERATIONS.invite.answer.parse(answer.body)).toMatchObject({ invitation: { email: invited.email } });
      expect(answer.body).not.toHaveProperty('link');
      const token = await tokenIn(plane, invited.email, 'invitation');
      expect(token).toMatch(/^[\w-]{43}$/);
      expect(statusOf(await accept(other, token))).toBe(404);
      const results = await Promise.all([accept(invited, token), accept(invited, token)]);
      expect(results.map(statusOf).sort()).toEqual([200, 404]);
      expect(statusOf(await accept(invited, token))).toBe(404);
      expect((await rolesNow())[invited.id]).toBe('developer');
      expect((await owner.call('GET', '/account/invitations')).body).toEqual({ invitations: [] });
      const { rows } = await plane.database.pool.query('SELECT * FROM invitations WHERE account_id = $1', [accountId]);
      expect(JSON.stringify(rows)).not.toContain(token);
    });

    it('end after 7 days, when they are withdrawn, and when the address is invited again', async () => {
      const user = await SpecUser.create(plane);
      const tokens: string[] = [];
      for (const _again of [1, 2]) {
        await invite(user.email);
        tokens.push(await tokenIn(plane, user.email, 'invitation'));
      }
      expect(statusOf(await accept(user, tokens[0] ?? ''))).toBe(404);
      const list = OPERATIONS.listInvitations.answer.parse((await owner.call('GET', '/account/invitations')).body);
      expect(list.invitations).toHaveLength(1);
      const [open] = list.invitations;
      expect((open?.expires_at ?? 0) - (open?.created_at ?? 0)).toBe(7 * 86_400);
      const late = "UPDATE invitations SET expires_at = now() - interval '1 ms' WHERE id = $1";
      await plane.database.pool.query(late, [open?.id]);
      expect(statusOf(await accept(user, tokens[1] ?? ''))).toBe(404);
      const again = OPERATIONS.invite.answer.parse((await invite(user.email)).body);
      const path = `/account/invitations/${again.invitation.id}`;
      expect([statusOf(await owner.call('DELETE', path)), statusOf(await owner.call('DELETE', path))]).toEqual([
        204, 404,
      ]);
      expect(statusOf(await accept(user, await tokenIn(plane, user.email, 'invitation')))).toBe(404);
    });

    it('are refused for a member, for two addresses and for one with a line break', async () => {
      expect(await invite(owner.email)).toMatchObject({ status: 409 });
      for (const email of ['a@example.com,b@example.com', 'a@example.com\r\nBcc: evil@example.com', 'nobody']) {
        const refused = await invite(email);
        expect([refused.status, detailsOf(refused)]).toEqual([400, expect.stringMatching(/^email: /) as string]);
      }
      expect(await mailsTo(plane, 'a@example.com')).toEqual([]);
    });

    it('let somebody without a user become one, whose address is then known', async () => {
      const email = `new-${accountId.toLowerCase()}@example.com`;
      await invite(email, 'viewer');
      const token = await tokenIn(plane, email, 'invitation');
      const browser = new SpecBrowser(plane);
      const join = (password: string) => browser.call('POST', '/invitations/join', { token, name: 'New', password });
      expect(detailsOf(await join('password12'))).toMatch(/^password: /);
      expect(await join('violet tractor sings 42')).toMatchObject({
        status: 201,
        body: { id: accountId, role: 'viewer' },
      });
      expect(statusOf(await join('violet tractor sings 42'))).toBe(404);
      const signIn = await browser.call('POST', '/auth/sign-in', { email, password: 'violet tractor sings 42' });
      expect([signIn.status, (await browser.call('GET', '/account')).body['role']]).toEqual([200, 'viewer']);
    });

    it('do not give away a user: who has one signs in to accept', async () => {
      const user = await SpecUser.create(plane);
      await invite(user.email);
      const token = await tokenIn(plane, user.email, 'invitation');
      const body = { token, name: 'Thief', password: 'violet tractor sings 42' };
      expect(statusOf(await new SpecBrowser(plane).call('POST', '/invitations/join', body))).toBe(409);
      expect(statusOf(await accept(user, token))).toBe(200);
    });
  });
});

describe('invitations where no mail is sent', () => {
  let plane: RunningControlPlane;
  beforeAll(async () => {
    plane = await RunningControlPlane.open({}, { hasMail: false, isSignUpOpen: false });
  });
  afterAll(() => plane.close());

  it('are links to copy', async () => {
    const { accountId } = await plane.newAccount();
    const owner = await (await SpecUser.create(plane)).join(accountId, 'owner');
    const user = await SpecUser.create(plane);
    const answer = await owner.call('POST', '/account/invitations', { email: user.email, role: 'billing' });
    const { link = '' } = OPERATIONS.invite.answer.parse(answer.body);
    expect(link.startsWith(`${PUBLIC_URL}/invitation#token=`)).toBe(true);
    expect(await mailsTo(plane, user.email)).toEqual([]);
    const token = tokenOfLink(link);
    expect((await user.call('POST', '/invitations/accept', { token })).body).toMatchObject({ role: 'billing' });
  });
});
