import { ActionIcon, Code, CopyButton, Group } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

/** A text to copy, with its button. `label` names it for screen readers. */
export function CopyField({ value, label }: { value: string; label: string }) {
  const { t } = useTranslation();
  return (
    <Group wrap="nowrap" gap="xs" align="flex-start">
      <Code block tabIndex={0} aria-label={label} style={{ flex: 1, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {value}
      </Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <ActionIcon
            variant="default"
            size="lg"
            onClick={copy}
            aria-label={copied ? t('copied') : t('copy', { label })}
          >
            {copied ? <IconCheck size={18} aria-hidden /> : <IconCopy size={18} aria-hidden />}
          </ActionIcon>
        )}
      </CopyButton>
    </Group>
  );
}
