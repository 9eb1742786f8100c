import { Button, Group } from '@mantine/core';
import { Link, useRouterState } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Page } from '../frame/page.js';
import { useRole, type ChosenAccount } from '../session/session.js';

const SECTIONS = [
  { name: 'overview', to: '/account', roles: ['owner', 'developer', 'billing', 'viewer'] },
  { name: 'members', to: '/account/members', roles: ['owner', 'developer', 'billing', 'viewer'] },
  { name: 'keys', to: '/account/keys', roles: ['owner', 'developer'] },
  { name: 'audit', to: '/account/audit', roles: ['owner'] },
] as const satisfies readonly { name: string; to: string; roles: readonly ChosenAccount['role'][] }[];

/** One page of the account, with the way to the others that the role may see. */
export function AccountSection({ name, children }: { name: (typeof SECTIONS)[number]['name']; children: ReactNode }) {
  const { t } = useTranslation('account');
  const role = useRole();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const offered = SECTIONS.filter(({ roles }) => roles.some((one) => one === role));
  return (
    <Page title={t(`sections.${name}`)} about={t(`about.${name}`)}>
      <Group component="nav" gap={4} aria-label={t('sections.label')}>
        {offered.map(({ name: section, to }) => (
          <Button
            key={section}
            component={Link}
            to={to}
            size="compact-md"
            variant={path === to ? 'light' : 'subtle'}
            aria-current={path === to ? 'page' : undefined}
          >
            {t(`sections.${section}`)}
          </Button>
        ))}
      </Group>
      {children}
    </Page>
  );
}
