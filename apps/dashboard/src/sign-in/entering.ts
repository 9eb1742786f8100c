import { useRouter } from '@tanstack/react-router';
import { queryClient } from '../api/api.js';
import { returnPath } from './return-path.js';

/** Goes on to a path as somebody who has just signed in: nothing that was read before is kept. */
export function useEnter(): (path?: string) => void {
  const { history } = useRouter();
  return (path) => {
    queryClient.clear();
    history.push(returnPath(path));
  };
}
