import { Center, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface PageProps {
  title: string;
  /** A sentence below the title. */
  about?: ReactNode;
  /** Buttons beside the title. */
  actions?: ReactNode;
  children?: ReactNode;
}

/** A page: its title is that of the window, and gets the focus, so that screen readers announce a change of page. */
export function Page({ title, about, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useDocumentTitle(`${title} - Dormouse`);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" wrap="wrap">
        <div>
          <Title order={1} ref={heading} tabIndex={-1} style={{ outline: 'none' }}>
            {title}
          </Title>
          {about !== undefined && (
            <Text c="dimmed" mt={4}>
              {about}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group>{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}

/** While a page waits for its first answer. */
export function Loading() {
  const { t } = useTranslation();
  return (
    <Center mih={200}>
      <Loader aria-label={t('loading')} />
    </Center>
  );
}
