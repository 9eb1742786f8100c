import { Navigate } from '@tanstack/react-router';
import { useRole } from '../session/session.js';

/** The first area that a role sees. */
export function HomePage() {
  const area: string = useRole() === 'billing' ? '/billing' : '/channels';
  return <Navigate to={area} replace />;
}
