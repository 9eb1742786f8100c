import { useRole } from '../session/session.js';

/** Whether the user's role may change channels. The API decides; what it would refuse is not offered. */
export function useMayChange(): boolean {
  const role = useRole();
  return role === 'owner' || role === 'developer';
}
