import { KEY_SCOPES, ROLES, SCOPES_OF_ROLE, type Access } from './access.js';
import type { Operation } from './operation.js';
import { OPERATIONS } from './operations.js';

const rows = Object.entries<Operation>(OPERATIONS).map(([name, { access }]): [string, Access] => [name, access]);

describe('the table of who may call what', () => {
  it('lets an owner do everything that any member may', () => {
    const closed = rows.filter(([, access]) => access.for === 'members' && !access.roles.includes('owner'));
    expect(closed).toEqual([]);
  });

  it('gives no role a scope for its keys that opens more than the role itself', () => {
    const wider = ROLES.flatMap((role) =>
      rows
        .filter(([, access]) => access.for === 'members' && !access.roles.includes(role))
        .filter(([, access]) => access.for === 'members' && access.scope && SCOPES_OF_ROLE[role].includes(access.scope))
        .map(([name]) => `${role}: ${name}`),
    );
    expect(wider).toEqual([]);
  });

  it('lets no scope that only reads change anything', () => {
    const changing = Object.entries<Operation>(OPERATIONS)
      .filter(
        ([, { access, method }]) => access.for === 'members' && access.scope?.endsWith(':read') && method !== 'get',
      )
      .map(([name]) => name);
    expect(changing).toEqual([]);
    expect(new Set(KEY_SCOPES).size).toBe(KEY_SCOPES.length);
  });
});
