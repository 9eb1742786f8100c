import type { ChosenAccount } from '../session/session.js';

type Role = ChosenAccount['role'] | undefined;

/** A part of the pages in the navigation, and who sees it. What a role may do is decided by the API, not here. */
export interface Area {
  name: 'channels' | 'billing' | 'account' | 'profile' | 'operators';
  to: string;
  isFor: (role: Role, isOperator: boolean) => boolean;
}

export const AREAS: readonly Area[] = [
  { name: 'channels', to: '/channels', isFor: (role) => role !== undefined && role !== 'billing' },
  { name: 'billing', to: '/billing', isFor: (role) => role === 'owner' || role === 'billing' },
  { name: 'account', to: '/account', isFor: (role) => role !== undefined },
  { name: 'profile', to: '/profile', isFor: () => true },
  { name: 'operators', to: '/operators', isFor: (_role, isOperator) => isOperator },
];

/** Areas that somebody without an account has, too. */
const OF_NO_ACCOUNT = ['/profile', '/operators'];

/** Whether a page is about an account. */
export function isAboutAccount(path: string): boolean {
  return !OF_NO_ACCOUNT.some((area) => path === area || path.startsWith(`${area}/`));
}
