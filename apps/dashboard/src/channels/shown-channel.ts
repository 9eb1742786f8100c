import type { ManagedChannel } from '@dormouse/management-contract';
import { createContext, useContext } from 'react';

export const ChannelContext = createContext<ManagedChannel | undefined>(undefined);

/** The channel that the page is about, read again every few seconds. @throws outside of pages of a channel */
export function useChannel(): ManagedChannel {
  const channel = useContext(ChannelContext);
  if (!channel) throw new Error('the page is not about a channel');
  return channel;
}
