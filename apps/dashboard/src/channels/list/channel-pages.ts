/**
 * Channels of a list of thousands: pages of 500, read as they come into view.
 */
import type { ManagedChannel } from '@dormouse/management-contract';
import { useQueries } from '@tanstack/react-query';
import { useRef } from 'react';
import { operation } from '../../api/api.js';

export const PAGE_SIZE = 500;
const REFRESH_MS = 10_000;

/** Numbers of the pages that hold these rows; at least the first. */
export function pagesOf({ first, last }: { first: number; last: number }): number[] {
  const from = Math.floor(first / PAGE_SIZE);
  const to = Math.max(from, Math.floor(last / PAGE_SIZE));
  return Array.from({ length: to - from + 1 }, (_, n) => from + n);
}

interface ChannelPages {
  /** Undefined until the first answer. */
  total: number | undefined;
  /** A row that was read; undefined while its page is on its way. */
  at: (index: number) => ManagedChannel | undefined;
  error: Error | null;
}

/** The rows that are in view, and how many there are. */
export function useChannelPages(search: string, rows: { first: number; last: number }): ChannelPages {
  const pages = pagesOf(rows);
  const results = useQueries({
    queries: pages.map((page) => ({
      ...operation('listChannels', {
        query: { count: PAGE_SIZE, offset: page * PAGE_SIZE, ...(search === '' ? {} : { search }) },
      }),
      refetchInterval: REFRESH_MS,
    })),
  });
  // While a page is on its way the list keeps its length.
  const known = useRef<{ search: string; total: number } | undefined>(undefined);
  const total = results.find(({ data }) => data)?.data?.total;
  if (total !== undefined) known.current = { search, total };
  return {
    total: known.current?.search === search ? known.current.total : undefined,
    at: (index) => results[pages.indexOf(Math.floor(index / PAGE_SIZE))]?.data?.channels[index % PAGE_SIZE],
    error: results.find(({ error }) => error)?.error ?? null,
  };
}
