import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

const MOST = 5;

interface HeaderFieldsProps {
  headers: Readonly<Record<string, string>>;
  onChange: (headers: Record<string, string>) => void;
}

/** Headers that go with every call of a webhook. */
export function HeaderFields({ headers, onChange }: HeaderFieldsProps) {
  const { t } = useTranslation('channelSettings');
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const entries = Object.entries(headers);
  const remove = (gone: string): void => onChange(Object.fromEntries(entries.filter(([kept]) => kept !== gone)));
  const add = (): void => {
    onChange({ ...headers, [name.trim()]: value });
    setName('');
    setValue('');
  };
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        {t('headers.title')}
      </Text>
      {entries.map(([key, text]) => (
        <Group key={key} gap="xs">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {key}: {text}
          </Text>
          <Button size="compact-xs" variant="default" onClick={() => remove(key)}>
            {t('headers.remove', { name: key })}
          </Button>
        </Group>
      ))}
      {entries.length < MOST && (
        <Group gap="xs" align="flex-end">
          <TextInput label={t('headers.name')} value={name} onChange={(event) => setName(event.currentTarget.value)} />
          <TextInput
            label={t('headers.value')}
            value={value}
            onChange={(event) => setValue(event.currentTarget.value)}
          />
          <Button variant="default" disabled={name.trim() === ''} onClick={add}>
            {t('headers.add')}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
