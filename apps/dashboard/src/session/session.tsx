import type { AccountList, CurrentSession } from '@dormouse/management-contract';
import { useQuery } from '@tanstack/react-query';
import { createContext, useContext, useSyncExternalStore, type ReactNode } from 'react';
import { api, ApiFailure, queryClient } from '../api/api.js';

/** `none`: nobody is signed in; `needs-code`: the session waits for a code of the second factor. */
export type SessionState = CurrentSession | 'none' | 'needs-code';

/** The session of the browser, read again when the window gets the focus. */
export function sessionQuery() {
  return {
    queryKey: ['getSession'],
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<SessionState> =>
      api.request('getSession', {}, { signal }).catch((error: unknown) => {
        if (error instanceof ApiFailure && error.status === 401) return error.needsCode ? 'needs-code' : 'none';
        throw error;
      }),
    staleTime: 30_000,
  };
}

/** What is known of the session; undefined until it was read. */
export function useSessionState(): SessionState | undefined {
  return useQuery(sessionQuery()).data;
}

/** Who is signed in; undefined while nobody is. */
export function useSession(): CurrentSession | undefined {
  const state = useSessionState();
  return typeof state === 'object' ? state : undefined;
}

const ACCOUNT_KEY = 'dormouse.account';

/** An account that the user is in, and what they are in it. */
export interface ChosenAccount {
  id: string;
  name: string;
  role: 'owner' | 'developer' | 'billing' | 'viewer';
}

/** Chooses the account that the page is about; its choice outlives a reload. */
export function chooseAccount(id: string): void {
  localStorage.setItem(ACCOUNT_KEY, id);
  api.account = id;
  forgetAccount();
}

/** Nothing that was read of one account is shown for another. */
function forgetAccount(): void {
  queryClient.removeQueries({
    predicate: ({ queryKey }) => queryKey[0] !== 'getSession' && queryKey[0] !== 'listAccounts',
  });
}

const LOOK_KEY = 'dormouse.look';

/** An account of others that an operator looks at, in this tab alone. */
export interface Look {
  id: string;
  name: string;
}

const lookListeners = new Set<() => void>();

/** The look of this tab; undefined: there is none. */
export function useLook(): Look | undefined {
  const kept = useSyncExternalStore(
    (listener) => {
      lookListeners.add(listener);
      return () => lookListeners.delete(listener);
    },
    () => sessionStorage.getItem(LOOK_KEY),
  );
  const look: unknown = JSON.parse(kept ?? 'null');
  const id: unknown = Reflect.get(Object(look), 'id');
  const name: unknown = Reflect.get(Object(look), 'name');
  return typeof id === 'string' && typeof name === 'string' ? { id, name } : undefined;
}

/** The pages are about this account from now on, as its customer sees it: they read, and change nothing. */
export function beginLook(look: Look): void {
  sessionStorage.setItem(LOOK_KEY, JSON.stringify(look));
  api.account = look.id;
  forgetAccount();
  lookListeners.forEach((listener) => listener());
}

export function endLook(): void {
  sessionStorage.removeItem(LOOK_KEY);
  api.account = undefined;
  forgetAccount();
  lookListeners.forEach((listener) => listener());
}

/** Leaves the pages of an account that the user is not in any more; nothing of it stays in memory. */
export function leaveForHome(): void {
  localStorage.removeItem(ACCOUNT_KEY);
  window.location.assign('/');
}

/** The accounts that the user is in. */
export function accountsQuery() {
  return {
    queryKey: ['listAccounts'],
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<AccountList> => api.request('listAccounts', {}, { signal }),
  };
}

/** The account that was chosen here, else the first; undefined while the user is in none. */
export function chosenOf({ accounts }: AccountList): ChosenAccount | undefined {
  const kept = localStorage.getItem(ACCOUNT_KEY);
  const own = accounts.find(({ id }) => id === kept) ?? accounts[0];
  return own?.role && { id: own.id, name: own.name, role: own.role };
}

const AccountContext = createContext<ChosenAccount | undefined>(undefined);

/** Gives the pages below it the account they are about. Undefined while the user is in none. */
export function AccountProvider({
  whileReading,
  children,
}: {
  whileReading: ReactNode;
  children: (account: ChosenAccount | undefined) => ReactNode;
}) {
  const { data } = useQuery(accountsQuery());
  const look = useLook();
  if (!data) return whileReading;
  const account = look ? { ...look, role: 'viewer' as const } : chosenOf(data);
  api.account = account?.id;
  return <AccountContext.Provider value={account}>{children(account)}</AccountContext.Provider>;
}

/** The account that the page is about. @throws outside of pages of an account */
export function useAccount(): ChosenAccount {
  const account = useContext(AccountContext);
  if (!account) throw new Error('the page is not about an account');
  return account;
}

/** Whether the user has one of these roles in the account; `undefined` in none. */
export function useRole(): ChosenAccount['role'] | undefined {
  return useContext(AccountContext)?.role;
}
