import { Anchor, Center, Group, Paper, Stack, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { AwayBanner } from './away-banner.js';
import { LanguageChoice } from './language-choice.js';
import { SchemeSwitch } from './scheme-switch.js';

/** A page of its own, without navigation: sign-in and what links in mails lead to. */
export function SignedOutPage({ title, children }: { title: string; children: ReactNode }) {
  const { t } = useTranslation();
  useDocumentTitle(`${title} - Dormouse`);
  return (
    <>
      <AwayBanner />
      <Center mih="100dvh" p="md" component="main">
        <Stack w="100%" maw={420}>
          <Paper withBorder p="lg" radius="md">
            <Stack>
              <Title order={1} size="h2">
                {title}
              </Title>
              {children}
            </Stack>
          </Paper>
          <Group justify="space-between">
            <Anchor href="/docs" size="sm">
              {t('documentation')}
            </Anchor>
            <Group gap="xs">
              <LanguageChoice />
              <SchemeSwitch />
            </Group>
          </Group>
        </Stack>
      </Center>
    </>
  );
}
