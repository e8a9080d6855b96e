package Edits;
# Edits of the sources, of which a mutation or a planted fault is made. A table of them:
#
#     = NAME
#     @ FILE                 an edit. The one place of the "-" text is replaced by the "+" text
#     -OLD                   both may be a part of a line, and may have several lines
#     +NEW
#     X TEXT                 more about it, where X is another sign
use strict;
use warnings;
use Exporter qw(import);
our @EXPORT_OK = qw(slurp spew read_edits apply_edits);

sub slurp { my ($file) = @_; open my $in, '<', $file or die "$file: $!\n"; local $/; return scalar <$in> }

sub spew { my ($file, $text) = @_; open my $out, '>', $file or die "$file: $!\n"; print $out $text; close $out }

# Those of TABLE, each with the text of its other lines by their sign.
sub read_edits {
    my ($table) = @_;
    my @all;
    for (split /\n/, slurp($table)) {
        if    (/^= (.*)/)            { push @all, {name => $1, edits => []} }
        elsif (/^\@ (.*)/)           { push @{$all[-1]{edits}}, {file => $1, old => '', new => ''} }
        elsif (/^-(.*)/)             { $all[-1]{edits}[-1]{old} .= "$1\n" }
        elsif (/^\+(.*)/)            { $all[-1]{edits}[-1]{new} .= "$1\n" }
        elsif (/^([^#\w\s]) (.*)/)   { $all[-1]{$1} = $2 }
        elsif (/^[^#]/)              { die "$table: what is '$_'?\n" }
    }
    return @all;
}

# The texts of the files below TOP, edited, by file. A text may be a part of a line, so it is compared without its last
# line end.
sub apply_edits {
    my ($one, $top) = @_;
    my %text;
    for my $edit (@{$one->{edits}}) {
        my ($file, $old, $new) = @$edit{qw(file old new)};
        chomp($old, $new);
        $text{$file} //= -e "$top/$file" ? slurp("$top/$file") : '';
        my $places = () = $text{$file} =~ /\Q$old\E/g;
        die "mutation '$one->{name}': its text stands $places times in $file\n" if $places != 1 || $old eq '';
        $text{$file} =~ s/\Q$old\E/$new/;
    }
    die "mutation '$one->{name}': it has no edit\n" if !%text;
    return \%text;
}

1;
