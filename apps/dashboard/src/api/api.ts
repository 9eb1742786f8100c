import { keepPreviousData, QueryClient, queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { OPERATION_ADDRESSES } from 'virtual:operations';
import { passwordProof } from '../session/password-proof.js';
import { ApiAway, ApiFailure } from './api-failure.js';
import { ApiClient } from './client.js';
import type { Answer, Input, OperationName } from './operation-types.js';
import { Reachability } from './reachability.js';

const CHECK_INTERVAL_MS = 2_000;
const RETRIES = 2;

export const reachability = new Reachability();

export const api = new ApiClient({
  addresses: OPERATION_ADDRESSES,
  onReachable: (isReachable) => reachability.set(isReachable),
  onSignedOut: () => void queryClient.invalidateQueries({ queryKey: ['getSession'] }),
});

/** Answers are kept for the page alone. What failed because the API is away is repeated by the return of the API. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (failures, error) => error instanceof ApiFailure && error.status === 503 && failures < RETRIES,
    },
    mutations: { retry: false },
  },
});

/** Asks again until the API answers, then repeats every query of the page. */
function watchReachability(): void {
  let timer: ReturnType<typeof setInterval> | undefined;
  reachability.subscribe(() => {
    clearInterval(timer);
    if (reachability.isReachable) return void queryClient.invalidateQueries();
    timer = setInterval(() => void api.request('getInstallation', {}).catch(() => undefined), CHECK_INTERVAL_MS);
  });
}
watchReachability();

/** The query of an operation that reads. */
export function operation<Name extends OperationName>(name: Name, input: Input<Name>) {
  return queryOptions<Answer<Name>>({
    queryKey: [name, input, api.account ?? ''],
    queryFn: ({ signal }) => api.request(name, input, { signal }),
  });
}

interface ReadSettings {
  /** Interval between two reads while the page is visible. */
  everyMs?: number;
  /** False: not read yet. */
  enabled?: boolean;
  /** Shows the answer of the former input until the new one is here. */
  keepsFormer?: boolean;
}

/** Reads an operation, and keeps what it answered up to date. */
export function useRead<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  { everyMs, enabled = true, keepsFormer = false }: ReadSettings = {},
) {
  return useQuery({
    ...operation(name, input),
    enabled,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(keepsFormer ? { placeholderData: keepPreviousData } : {}),
  });
}

/** Carries out an operation; when the password is needed again, the page requests it and repeats. @throws {ApiFailure} */
export async function carryOut<Name extends OperationName>(name: Name, input: Input<Name>): Promise<Answer<Name>> {
  try {
    return await api.request(name, input);
  } catch (error) {
    if (!(error instanceof ApiFailure) || !error.needsPassword || !(await passwordProof.request())) throw error;
    return api.request(name, input);
  }
}

/**
 * An operation that changes something.
 * @param changes operations whose answers it changes: they are read again
 */
export function useAction<Name extends OperationName>(
  name: Name,
  { changes = [], onDone }: { changes?: readonly OperationName[]; onDone?: (answer: Answer<Name>) => void } = {},
) {
  return useMutation<Answer<Name>, Error, Input<Name>>({
    mutationFn: (input) => carryOut(name, input),
    onSuccess: async (answer) => {
      await Promise.all(changes.map((changed) => queryClient.invalidateQueries({ queryKey: [changed] })));
      onDone?.(answer);
    },
  });
}

export { ApiAway, ApiFailure };
