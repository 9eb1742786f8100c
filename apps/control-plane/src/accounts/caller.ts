import type { Role } from '@dormouse/management-contract';
import type { SignedInUser } from '../users/user-sessions.js';
import type { UsedKey } from './account-key.js';
import type { Account } from './accounts.js';

/** A key of an account. */
export interface KeyCaller {
  kind: 'key';
  account: Account;
  key: UsedKey;
}

/** A signed-in user, in one of their accounts. */
export interface MemberCaller {
  kind: 'user';
  account: Account;
  role: Role;
  signedIn: SignedInUser;
  /** An operator who is no member, and looks at the account as a customer sees it: reads alone. */
  isLook?: true;
}

/** Who makes a request for an account. */
export type Caller = KeyCaller | MemberCaller;
