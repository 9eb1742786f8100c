import { Alert, Anchor, Group, Text } from '@mantine/core';
import { IconShieldLock } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { LinkAnchor } from '../frame/links.js';
import { Page } from '../frame/page.js';
import { useSession } from '../session/session.js';

/** A page for operators. Without the second factor it has how to turn it on instead: the API lets nobody in without one. */
export function OperatorPage({ title, about, children }: { title: string; about?: string; children: ReactNode }) {
  const { t } = useTranslation('operators');
  const { user } = useSession() ?? {};
  const isIn = user?.operator === true && user.second_factor;
  return (
    <Page title={title} {...(about === undefined ? {} : { about })}>
      {isIn ? (
        <>
          <Group component="nav" aria-label={t('parts')} gap="md">
            <LinkAnchor to="/operators">{t('fleet.title')}</LinkAnchor>
            <LinkAnchor to="/operators/accounts">{t('accounts.title')}</LinkAnchor>
          </Group>
          {children}
        </>
      ) : (
        <Alert icon={<IconShieldLock aria-hidden />} title={t(user?.operator ? 'secondFactor.title' : 'none.title')}>
          <Text size="sm">{t(user?.operator ? 'secondFactor.text' : 'none.text')}</Text>
          {user?.operator && <Anchor href="/profile">{t('secondFactor.link')}</Anchor>}
        </Alert>
      )}
    </Page>
  );
}
