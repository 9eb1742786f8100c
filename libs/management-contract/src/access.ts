/**
 * Who may call an operation. Every operation of `OPERATIONS` has such a row; the control plane's guard reads nothing else.
 */

/** What a user is in an account. */
export const ROLES = ['owner', 'developer', 'billing', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** What a key may be made for. */
export const KEY_SCOPES = [
  'account:read',
  'account:write',
  'account:end',
  'audit:read',
  'billing:read',
  'billing:write',
  'channels:read',
  'channels:write',
  'events:read',
  'events:write',
  'keys:read',
  'keys:write',
] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export type Access =
  /** Everybody: no key and no session is needed. */
  | { readonly for: 'anyone' }
  /** A signed-in user, whatever the account; keys are refused. `proof`: the password was entered a short time ago. */
  | { readonly for: 'users'; readonly proof?: true }
  /**
   * Users who are in the account in one of the roles, and keys of the account with the scope; without a scope no keys.
   * `proof`: users must have entered their password a short time ago; keys need none. Operators may look at what is read,
   * unless it is `hiddenFromOperators`: what would give them a number, a secret or everything at once.
   */
  | {
      readonly for: 'members';
      readonly roles: readonly Role[];
      readonly scope?: KeyScope;
      readonly proof?: true;
      readonly hiddenFromOperators?: true;
    }
  /** Operators of the installation, by an operator key or signed in with a second factor. */
  | { readonly for: 'operators'; readonly proof?: true };

/** Message of the 403 that only means that the password must be entered again first (`proof`). */
export const PASSWORD_REQUIRED = 'password required';

/** Message of the 401 that only means that the session waits for a code of the second factor (POST /auth/sign-in/code). */
export const CODE_REQUIRED = 'code required';

/** Roles that several rows share. */
export const EVERY_ROLE: readonly Role[] = ROLES;
export const OWNERS: readonly Role[] = ['owner'];
export const DEVELOPERS: readonly Role[] = ['owner', 'developer'];
export const BILLING_ROLES: readonly Role[] = ['owner', 'billing'];
/** Who sees channels and their events. */
export const READERS: readonly Role[] = ['owner', 'developer', 'viewer'];

/** What a key may do that a member in this role makes: a key never does more than its maker. */
export const SCOPES_OF_ROLE: Readonly<Record<Role, readonly KeyScope[]>> = {
  owner: KEY_SCOPES,
  developer: ['account:read', 'channels:read', 'channels:write', 'events:read', 'events:write'],
  billing: [],
  viewer: [],
};
