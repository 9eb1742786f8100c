import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../frame/frame-routes.js';
import { returnPath } from './return-path.js';
import { onceReachable } from '../frame/once-reachable.js';

const getParentRoute = () => rootRoute;

/** Pages of who is not signed in, and those that links in mails lead to. */
export const signInRoutes = [
  createRoute({
    getParentRoute,
    path: '/sign-in',
    validateSearch: ({ returnTo }: Record<string, unknown>): { returnTo?: string } =>
      returnTo === undefined ? {} : { returnTo: returnPath(returnTo) },
    component: lazyRouteComponent(
      onceReachable(() => import('./sign-in-page.js')),
      'SignInPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/sign-in/code',
    validateSearch: ({ return_to }: Record<string, unknown>): { return_to?: string } =>
      return_to === undefined ? {} : { return_to: returnPath(return_to) },
    component: lazyRouteComponent(
      onceReachable(() => import('./code-page.js')),
      'CodePage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/sign-up',
    component: lazyRouteComponent(
      onceReachable(() => import('./sign-up-page.js')),
      'SignUpPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/forgot-password',
    component: lazyRouteComponent(
      onceReachable(() => import('./forgot-password-page.js')),
      'ForgotPasswordPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/verify-email',
    component: lazyRouteComponent(
      onceReachable(() => import('./verify-page.js')),
      'VerifyPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/new-password',
    component: lazyRouteComponent(
      onceReachable(() => import('./new-password-page.js')),
      'NewPasswordPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/invitation',
    component: lazyRouteComponent(
      onceReachable(() => import('./invitation-page.js')),
      'InvitationPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/first-owner',
    component: lazyRouteComponent(
      onceReachable(() => import('./first-owner-page.js')),
      'FirstOwnerPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/signed-in',
    component: lazyRouteComponent(
      onceReachable(() => import('./provider-pages.js')),
      'SignedInPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/sign-in-failed',
    component: lazyRouteComponent(
      onceReachable(() => import('./provider-pages.js')),
      'SignInFailedPage',
    ),
  }),
];
