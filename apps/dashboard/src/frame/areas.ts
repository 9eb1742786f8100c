import type { ChosenAccount } from '../session/session.js';

type Role = ChosenAccount['role'] | undefined;

/** A part of the pages in the navigation, and who sees it. What a role may do is decided by the API, not here. */
export interface Area {
  name: 'channels' | 'billing' | 'account' | 'profile' | 'operators';
  to: string;
  isFor: (role: Role, isOperator: boolean) => boolean;
}

export const AREAS: readonly Area[] = [{ name: 'channels', to: '/channels', isFor: (role) => role !== 'billing' }];
