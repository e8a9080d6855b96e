# What check-prose and measure count as prose, and in it.
package Prose;
use strict;
use warnings;
use Exporter qw(import);
our @EXPORT_OK = qw(prose counted subjects n_words);

# Words that have no subject or no measure.
my @words = ('who', 'whom', 'whoever', 'nobody', 'somebody', 'anybody', 'anew', 'behind', 'for ever', 'now and then',
             'by itself', 'is told', 'are told', 'is gone', 'are gone', 'gives? back', 'gave back', 'given back', 'minds?', 'news');
my $counted = join '|', @words;

# Comments of C, or the text of a document without its code; newlines are kept, so that lines can be told.
sub prose {
    my ($file) = @_;
    my $text = do { local (@ARGV, $/) = $file; <> } // '';
    if ($file =~ /\.[ch]$/) {
        my $out = '';
        my $at = 0;
        while ($text =~ m{("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|/\*(.*?)\*/|//([^\n]*)}gs) {
            my $comment = $2 // $3;
            my $gap = substr($text, $at, $-[0] - $at);
            $at = $+[0];
            my $lines = $gap =~ tr/\n//;
            $out .= "\n" x $lines;
            next if !defined $comment;
            $comment =~ s/^ ?\*+/ /gm;
            $out .= "$comment ¶";
        }
        return $out;
    }
    $text =~ s/```.*?```/"\n" x ($& =~ tr{\n}{})/egs;
    $text =~ s/`[^`\n]*`/x/g;
    return $text;
}

sub n_words {
    my ($text) = @_;
    return scalar(() = $text =~ /\b[A-Za-z][A-Za-z'-]+\b/g);
}

# [line, word] of each counted word of a prose.
sub counted {
    my ($text) = @_;
    return places($text, qr/\b(?:$counted)\b/i);
}

# [line, word] of each sentence of a comment that begins with a bare who, what or whoever, and asks nothing.
sub subjects {
    my ($text) = @_;
    my $begin = qr/(?:^\s*|[.;¶:]\s+|\n\s*\n\s*|\A\s*)(Who|What|Whoever)\b[^.¶]*/;
    my @found;
    while ($text =~ /$begin/g) {
        my ($at, $word) = ($-[1], $1);
        push @found, [1 + (substr($text, 0, $at) =~ tr/\n//), $word] if $& !~ /\?/;
    }
    return @found;
}

sub places {
    my ($text, $pattern) = @_;
    my @found;
    while ($text =~ /$pattern/g) {
        my ($at, $word) = ($-[0], $&);
        push @found, [1 + (substr($text, 0, $at) =~ tr/\n//), $word];
    }
    return @found;
}

1;
