import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface StepCardProps {
  title: string;
  about?: string;
  isDone?: boolean;
  children?: ReactNode;
}

/** A step of the first run: its heading, whether it is done, and what to do. */
export function StepCard({ title, about, isDone = false, children }: StepCardProps) {
  const { t } = useTranslation('firstRun');
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h3">
            {title}
          </Title>
          {isDone && (
            <Badge variant="light" tt="none">
              {t('done')}
            </Badge>
          )}
        </Group>
        {about !== undefined && <Text size="sm">{about}</Text>}
        {children}
      </Stack>
    </Paper>
  );
}
